package faultproxy

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Types of HTTP/2 frames, and the codes by which streams and connections end.
const (
	FrameHeaders = 0x1
	FrameReset   = 0x3
	FrameGoAway  = 0x7

	CodeNo            = 0x0
	CodeRefusedStream = 0x7
)

// Frame is one frame of HTTP/2.
type Frame struct {
	Type, Flags byte
	Stream      uint32
	Payload     []byte
}

// Code is the frame that ends a stream.
func Code(stream, code uint32) Frame {
	return Frame{Type: FrameReset, Stream: stream, Payload: binary.BigEndian.AppendUint32(nil, code)}
}

// GoAway is the frame by which a server takes no more streams, and names the last
// that it has taken.
func GoAway(last, code uint32) Frame {
	return Frame{Type: FrameGoAway, Payload: binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code)}
}

// FrameFault sees every frame of a connection, those of the client with
// fromService false, and returns what goes on in its place. It is called for one
// frame of a connection after the other.
type FrameFault func(c *Frames, fromService bool, f Frame) []Frame

// Frames is a connection in the hands of a fault.
type Frames struct {
	mu     sync.Mutex
	client net.Conn
}

// Tell writes a frame to the client; false if it no longer listens.
func (c *Frames) Tell(f Frame) bool { return writeFrame(c.client, f) == nil }

// StartHTTP2 serves service over HTTP/2 until the test ends, with every frame going
// through fault. The certificate is that of the returned configuration, which a
// client trusts it by.
func StartHTTP2(t TB, service http.Handler, fault FrameFault) (*Proxy, *tls.Config) {
	t.Helper()
	behind := httptest.NewUnstartedServer(service)
	behind.EnableHTTP2 = true
	behind.Config.ErrorLog = log.New(io.Discard, "", 0)
	behind.StartTLS()
	t.Cleanup(behind.Close)
	trust := behind.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	server := &tls.Config{Certificates: behind.TLS.Certificates, NextProtos: []string{"h2"}}

	p := &Proxy{scheme: "https", service: service, conns: make(map[net.Conn]struct{}), plans: make(map[string]*plan)}
	p.listen(t, func(conn *net.TCPConn) {
		client := tls.Server(conn, server)
		if client.HandshakeContext(context.Background()) != nil {
			return
		}
		ask := trust.Clone()
		ask.NextProtos = []string{"h2"}
		upstream, err := (&tls.Dialer{Config: ask}).DialContext(context.Background(), "tcp", behind.Listener.Addr().String())
		if err != nil {
			return
		}
		c := &Frames{client: client}
		var back sync.WaitGroup
		back.Go(func() {
			c.relay(client, upstream, fault, true)
			_ = conn.Close()
		})
		if preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")); readWrite(upstream, client, preface) == nil {
			c.relay(upstream, client, fault, false)
		}
		_ = upstream.Close()
		back.Wait()
	})
	return p, &tls.Config{RootCAs: trust.RootCAs}
}

func readWrite(to io.Writer, from io.Reader, p []byte) error {
	if _, err := io.ReadFull(from, p); err != nil {
		return err
	}
	_, err := to.Write(p)
	return err
}

// relay hands frames on until one of the two ends.
func (c *Frames) relay(to, from net.Conn, fault FrameFault, fromService bool) {
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		c.mu.Lock()
		for _, out := range fault(c, fromService, f) {
			if err = writeFrame(to, out); err != nil {
				break
			}
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func readFrame(r io.Reader) (Frame, error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Type: head[3], Flags: head[4], Stream: binary.BigEndian.Uint32(head[5:])}
	f.Payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	_, err := io.ReadFull(r, f.Payload)
	return f, err
}

func writeFrame(w io.Writer, f Frame) error {
	n := len(f.Payload)
	out := []byte{byte(n >> 16), byte(n >> 8), byte(n), f.Type, f.Flags}
	out = binary.BigEndian.AppendUint32(out, f.Stream)
	_, err := w.Write(append(out, f.Payload...))
	return err
}

// Hangup closes the connection to the client.
func (c *Frames) Hangup() { _ = c.client.Close() }

// OnceCarriedOut is a fault of the first answer alone: instead of its header the
// client gets what answer says, and nothing more of the connection, which ends when
// the client gives the request up.
func OnceCarriedOut(answer func(c *Frames, header Frame) []Frame) FrameFault {
	return once(func(c *Frames, fromService bool, f Frame) ([]Frame, bool) {
		if !fromService || f.Type != FrameHeaders {
			return nil, false
		}
		return answer(c, f), true
	}, true)
}

// once hands frames on until one is the fault's, and after that nothing of the
// same connection. The header of an answer that is not handed on would leave the
// two ends with different tables of header fields.
func once(fault func(*Frames, bool, Frame) ([]Frame, bool), fromService bool) FrameFault {
	var (
		mu     sync.Mutex
		broken *Frames
	)
	return func(c *Frames, from bool, f Frame) []Frame {
		mu.Lock()
		defer mu.Unlock()
		if broken == nil {
			if out, is := fault(c, from, f); is {
				broken = c
				return out
			}
		}
		if broken == c && !from && f.Type == FrameReset {
			c.Hangup() // the client has given up
		}
		if broken == c && (from || !fromService) {
			return nil
		}
		return []Frame{f}
	}
}
