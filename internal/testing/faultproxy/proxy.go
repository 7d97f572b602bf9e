package faultproxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// TB is what a proxy needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Fault answers one request in place of the service. What it leaves open serves
// the connection's next request.
type Fault func(*Exchange)

// Proxy serves on loopback what a service answers, except where a fault does.
type Proxy struct {
	address string
	scheme  string
	service http.Handler

	listener net.Listener
	serving  sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	conns    map[net.Conn]struct{}
	plans    map[string]*plan
	rest     Fault
	accept   func(*net.TCPConn)
	requests []Request
}

// plan is what happens to the next requests of an operation.
type plan struct {
	next   []Fault
	always Fault
}

// Request is one that arrived whole.
type Request struct {
	Operation string // method and path
	Header    http.Header
	Body      string
}

// Start serves service over HTTP/1.1 until the test ends.
func Start(t TB, service http.Handler) *Proxy {
	t.Helper()
	return start(t, "http", service, nil)
}

// StartTLS is [Start] over TLS; a connection whose handshake fails is closed.
func StartTLS(t TB, service http.Handler, config *tls.Config) *Proxy {
	t.Helper()
	return start(t, "https", service, config)
}

func start(t TB, scheme string, service http.Handler, config *tls.Config) *Proxy {
	t.Helper()
	p := &Proxy{scheme: scheme, service: service, conns: make(map[net.Conn]struct{}), plans: make(map[string]*plan)}
	p.listen(t, func(conn *net.TCPConn) {
		if config == nil {
			p.serve(conn, conn)
			return
		}
		secured := tls.Server(conn, config)
		if secured.HandshakeContext(context.Background()) == nil {
			p.serve(conn, secured)
		}
	})
	return p
}

// listen hands each connection to handle until Close.
func (p *Proxy) listen(t TB, handle func(*net.TCPConn)) {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("faultproxy: %v", err)
	}
	p.listener, p.address = listener, listener.Addr().String()
	p.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			tcp, accept := conn.(*net.TCPConn), p.admit(conn)
			p.serving.Go(func() {
				defer p.forget(conn)
				if accept != nil {
					accept(tcp)
					return
				}
				handle(tcp)
			})
		}
	})
	t.Cleanup(p.Close)
}

// admit keeps a connection for Close, and returns what is to happen to it
// instead of being served.
func (p *Proxy) admit(conn net.Conn) func(*net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
	}
	p.conns[conn] = struct{}{}
	return p.accept
}

func (p *Proxy) forget(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// Close breaks what is still connected and waits until nothing runs any more:
// whatever the service was asked to do is done or will never be.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.serving.Wait()
}

// URL is the proxy's address, without a path.
func (p *Proxy) URL() string { return p.scheme + "://" + p.address }

// Address is the proxy's host and port.
func (p *Proxy) Address() string { return p.address }

// Next breaks the next requests of an operation, one fault a request: method and
// path, as in "POST /v1/orders".
func (p *Proxy) Next(operation string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.planOf(operation)
	of.next = append(of.next, faults...)
}

// Always breaks every request of an operation for which no other fault comes next.
func (p *Proxy) Always(operation string, fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planOf(operation).always = fault
}

// Rest breaks every request of operations that have no fault of their own.
func (p *Proxy) Rest(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = fault
}

// Accept gives every further connection to handle instead of serving it; nil ends
// that.
func (p *Proxy) Accept(handle func(*net.TCPConn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accept = handle
}

func (p *Proxy) planOf(operation string) *plan {
	if p.plans[operation] == nil {
		p.plans[operation] = new(plan)
	}
	return p.plans[operation]
}

// Requests are those that arrived whole, oldest first.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Request(nil), p.requests...)
}

// note keeps a request, and returns what it is to be answered by.
func (p *Proxy) note(r Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	of := p.plans[r.Operation]
	switch {
	case of != nil && len(of.next) > 0:
		fault := of.next[0]
		of.next = of.next[1:]
		return fault
	case of != nil && of.always != nil:
		return of.always
	case p.rest != nil:
		return p.rest
	default:
		return Pass
	}
}

// serve answers the requests of one connection until it is closed.
func (p *Proxy) serve(tcp *net.TCPConn, conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		x := &Exchange{Conn: conn, tcp: tcp, proxy: p, reader: reader, request: req, body: body}
		fault := p.note(Request{Operation: req.Method + " " + req.URL.Path, Header: req.Header, Body: string(body)})
		if fault(x); x.over.Load() || req.Close {
			return
		}
	}
}

// Exchange is one request in the hands of a fault.
type Exchange struct {
	net.Conn // to the client

	tcp     *net.TCPConn
	proxy   *Proxy
	reader  *bufio.Reader
	request *http.Request
	body    []byte
	over    atomic.Bool
}

// Close ends the connection once what was written has been sent.
func (x *Exchange) Close() error {
	x.over.Store(true)
	return x.Conn.Close()
}

// CloseWrite signals to the client that nothing more comes, and leaves its own half open.
func (x *Exchange) CloseWrite() error { return x.tcp.CloseWrite() }

// Reset ends the connection by RST. What was written and not read yet may be lost.
func (x *Exchange) Reset() {
	x.over.Store(true)
	Reset(x.tcp)
}

// Hold does nothing until the client hangs up, and ends the connection.
func (x *Exchange) Hold() {
	_, _ = io.Copy(io.Discard, x.reader)
	_ = x.Close()
}

// Say writes text; false if the client no longer listens.
func (x *Exchange) Say(text string) bool {
	_, err := io.WriteString(x.Conn, text)
	return err == nil
}

// CarryOut has the service execute the request, and returns its answer as it
// would cross the wire. Each call executes once more.
func (x *Exchange) CarryOut() string {
	req := x.request.Clone(context.Background())
	req.Body, req.RemoteAddr = io.NopCloser(bytes.NewReader(x.body)), x.RemoteAddr().String()
	var answer recorder
	x.proxy.service.ServeHTTP(&answer, req)
	return answer.wire()
}

// Pass is no fault: the service answers.
func Pass(x *Exchange) { x.Say(x.CarryOut()) }

// Reset ends a connection by RST.
func Reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// Drain reads what comes and says nothing until the client hangs up.
func Drain(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) }

// recorder keeps what a handler answers.
type recorder struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = make(http.Header)
	}
	return r.header
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) wire() string {
	r.WriteHeader(http.StatusOK)
	resp := http.Response{
		StatusCode: r.status, ProtoMajor: 1, ProtoMinor: 1,
		Header: r.Header(), ContentLength: int64(r.body.Len()), Body: io.NopCloser(&r.body),
	}
	var text bytes.Buffer
	_ = resp.Write(&text) // to memory
	return text.String()
}
