package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// service answers every request with the bytes of its path.
type service struct{ answers map[string][]byte }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := answerAt(s.answers, r.URL.Path)
	if !ok {
		http.Error(w, "no such path: "+r.URL.Path, http.StatusNotFound)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = w.Write(body)
}

var contentJSON = []string{"application/json"}

// serve runs the service on loopback and prints its address. It ends when the
// process that started it closes its input, by going away for instance.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: &service{answers: answers()}, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = server.Close()
	}()
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// canned is the service without a network: an http.RoundTripper with the same
// answers.
type canned struct{ answers map[string][]byte }

func newCanned(answers map[string][]byte) *canned { return &canned{answers} }

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	body, ok := answerAt(c.answers, r.URL.Path)
	if !ok {
		return nil, fmt.Errorf("no such path: %s", r.URL.Path)
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Status:     "200 OK",
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":   contentJSON,
			"Content-Length": {strconv.Itoa(len(body))},
			"Date":           {time.Now().UTC().Format(http.TimeFormat)},
		},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}, nil
}
