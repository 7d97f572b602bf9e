package crash

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
)

// A real bot and its parent talk over the child's stdin and stdout, one line of
// JSON each way at a time: the child says what it does, and is stopped until the
// parent has answered. A parent that kills it does not answer.

// orders are what a child is to do; they are in its environment.
type orders struct {
	Family            family
	Seed              uint64
	Life              life
	URL, Key, Journal string
	Start             time.Time // by the child's clock
	Loopback          string    // the service's address, if there is a network
}

const childEnv = "TRADING_CRASH_CHILD"

// message is what a child says; one of its parts.
type message struct {
	At      time.Time // by the child's clock
	Step    string    `json:",omitempty"`
	Begun   *begun    `json:",omitempty"`
	Told    *told     `json:",omitempty"`
	Note    string    `json:",omitempty"`
	Unknown string    `json:",omitempty"`
	Problem string    `json:",omitempty"`
	Exit    bool      `json:",omitempty"`

	// What takes time is an errand: the parent runs it, and the child asks again
	// until it is done.
	Owner   moment   `json:",omitempty"`
	Request *request `json:",omitempty"`
	Errand  int      `json:",omitempty"` // asks what has become of it
	Body    *[]byte  `json:",omitempty"` // of its request, once it is wanted
	Leave   bool     `json:",omitempty"` // the child waits no longer
}

type begun struct {
	ID  trading.IntentID
	Key trading.Key
}

// answer is what a parent answers. It is empty but for errands.
type answer struct {
	Errand   int       `json:",omitempty"`
	WantBody bool      `json:",omitempty"` // there is a connection that takes the request's body
	Done     bool      `json:",omitempty"`
	Response *response `json:",omitempty"`
}

// request is one on its way, but for its body.
type request struct {
	What, Method, URL string
	Header            http.Header
	HasBody           bool
}

func (r *request) of(req *http.Request, what string) *request {
	*r = request{what, req.Method, req.URL.String(), req.Header, req.Body != nil && req.Body != http.NoBody}
	return r
}

// response is one on its way back, or the error in its place.
type response struct {
	Status  int
	Header  http.Header
	Body    []byte
	Cut     bool // it ends before its end
	Refused bool // no connection came about
	Error   string
}

func newResponse(resp *http.Response, err error) *response {
	if err != nil {
		var op *net.OpError
		return &response{Error: err.Error(), Refused: errors.As(err, &op) && op.Op == "dial"}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return &response{Status: resp.StatusCode, Header: resp.Header, Body: body, Cut: err != nil}
}

// result is the response as the client gets it.
func (r *response) result(req *http.Request) (*http.Response, error) {
	switch {
	case r.Refused:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case r.Error != "":
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
		return nil, errors.Join(errors.New(r.Error), io.ErrUnexpectedEOF)
	}
	var body io.Reader = bytes.NewReader(r.Body)
	if r.Cut {
		body = io.MultiReader(body, cut{})
	}
	return &http.Response{
		Status:     strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		StatusCode: r.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        r.Header,
		Body:          io.NopCloser(body),
		ContentLength: contentLength(r),
		Request:       req,
	}, nil
}

func contentLength(r *response) int64 {
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); err == nil {
		return n
	}
	return int64(len(r.Body))
}

// cut is the end of an answer that has none.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
