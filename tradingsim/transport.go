package tradingsim

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"syscall"
)

// Transport reaches the simulation in process. It answers requests to any host,
// leaves no goroutine behind, and calls the hooks of httptrace as a connection
// would.
func (s *Sim) Transport() http.RoundTripper { return transport{s} }

type transport struct{ sim *Sim }

// inProcess is the network address of callers without a network.
const inProcess = "in-process"

// errBroken is a connection that ended before the answer did.
var errBroken = fmt.Errorf("tradingsim: the connection was cut: %w", io.ErrUnexpectedEOF)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := t.sim.newCall(r, inProcess)
	f, err := t.sim.begin(c)
	if err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(ctx)
	if f.refuse {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: simAddr(r.URL.Host), Err: syscall.ECONNREFUSED}
	}
	connect(trace, r.URL.Host)
	if err := readBody(c, r.Body); err != nil {
		return nil, err
	}
	written(trace)
	rep, err := t.sim.exchange(ctx, c, f)
	t.sim.ended(c, f, err == nil && !rep.cut && !rep.truncate)
	switch {
	case err != nil:
		return nil, err
	case rep.cut:
		return nil, errBroken
	}
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	return response(r, rep), nil
}

// simAddr is the address that no connection came about to.
type simAddr string

func (simAddr) Network() string  { return "tcp" }
func (a simAddr) String() string { return string(a) }

// readBody reads a body, of one that is too long a byte too many.
func readBody(c *call, body io.Reader) (err error) {
	if body == nil {
		return nil
	}
	if body == http.NoBody {
		c.body = []byte{}
		return nil
	}
	c.body, err = io.ReadAll(io.LimitReader(body, maxBody+1))
	return err
}

func connect(trace *httptrace.ClientTrace, host string) {
	if trace == nil {
		return
	}
	if trace.GetConn != nil {
		trace.GetConn(host)
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

func written(trace *httptrace.ClientTrace) {
	if trace == nil {
		return
	}
	if trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

// inProcessAnswer is a response with its body, in one piece.
type inProcessAnswer struct {
	http.Response
	bytes.Reader
	values [3]string
}

func (*inProcessAnswer) Close() error { return nil }

func response(r *http.Request, rep reply) *http.Response {
	a := &inProcessAnswer{}
	a.Reader.Reset(rep.body)
	a.Response = http.Response{
		Status:     "200 OK",
		StatusCode: rep.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        rep.headers(&a.values),
		Body:          a,
		ContentLength: int64(len(rep.body)),
		Request:       r,
	}
	if rep.status != http.StatusOK {
		a.Status = strconv.Itoa(rep.status) + " " + http.StatusText(rep.status)
	}
	if rep.truncate {
		a.Body = io.NopCloser(io.MultiReader(bytes.NewReader(rep.body[:len(rep.body)/2]), brokenReader{}))
	}
	return &a.Response
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
