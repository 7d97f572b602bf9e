package docs

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What one call may cost. A server can ask for more requests, by pages of tools, calls
// of its own, or tools that want another round.
const (
	maxRequests = 16
	maxBytes    = 1 << 20
)

var (
	errOver     = errors.New("the call is over")
	errRequests = fmt.Errorf("the server wants more than %d requests for one call", maxRequests)
)

// exchange is all the requests of one try of a call. The protocol's library returns
// most failures as text; the exchange keeps what they were.
type exchange struct {
	mu       sync.Mutex
	failure  error // the first; nothing is sent after it
	requests int
	bytes    int
	status   int    // of the latest answer
	media    string // its type
	sending  error  // why the latest request has no answer
}

type exchangeKey struct{}

// admit counts a request.
func (x *exchange) admit() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure != nil {
		return x.failure
	}
	if x.requests == maxRequests {
		x.failure = errRequests
		return x.failure
	}
	x.requests++
	x.status, x.media, x.sending = 0, "", nil
	return nil
}

// fail ends the exchange, and returns why it ended.
func (x *exchange) fail(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil {
		x.failure = err
	}
	return x.failure
}

// unanswered notes why a request has no answer.
func (x *exchange) unanswered(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sending = err
}

// answered notes an answer.
func (x *exchange) answered(res *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status = res.StatusCode
	x.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
}

// explain is the error of a call that the library ended with err.
func (x *exchange) explain(tool string, err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var refusal *jsonrpc.Error
	answer := new(AnswerError)
	switch {
	case x.failure != nil:
		return x.failed(tool)
	case errors.As(err, &answer):
		return answer
	case errors.As(err, &refusal) && !ofLibrary(refusal):
		message, _ := clean(refusal.Message, maxText)
		return &ToolError{Tool: tool, Message: message}
	case x.sending != nil:
		return &callError{tool: tool, err: x.sending}
	case x.status < 200 || x.status > 299:
		return &StatusError{Status: x.status}
	case x.media != "application/json" && x.media != "text/event-stream" && x.status == http.StatusOK:
		return &AnswerError{Tool: tool, Problem: "its type is " + line(x.media, maxQuoted) + ", not JSON or a stream of events"}
	}
	return &AnswerError{Tool: tool, Problem: line(err.Error(), maxQuoted)}
}

// failed is the failure as the error of a call.
func (x *exchange) failed(tool string) error {
	switch {
	case errors.Is(x.failure, ErrTooLarge):
		return &callError{tool: tool, err: x.failure}
	case errors.Is(x.failure, errRequests):
		return &AnswerError{Tool: tool, Problem: x.failure.Error()}
	}
	return x.failure
}

// ofLibrary reports whether the library made the error itself: that its client or its
// server is closing, or that the transport rejected the request.
func ofLibrary(err *jsonrpc.Error) bool { return err.Code <= -32003 && err.Code >= -32005 }

// body counts what is read of an answer.
type body struct {
	io.ReadCloser
	exchange *exchange
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.exchange.mu.Lock()
	b.exchange.bytes += n
	over := b.exchange.bytes > maxBytes
	b.exchange.mu.Unlock()
	if over {
		return 0, b.exchange.fail(ErrTooLarge)
	}
	return n, err
}
