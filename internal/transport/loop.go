package transport

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Sender is one call, as the loop that sends it again and again sees it. It is the
// context of its own requests, by which the loop finds it.
type Sender interface {
	context.Context
	// Send makes one attempt and keeps how it ended.
	Send()
	// Again looks at the attempt that has just ended, and says whether to send once
	// more.
	Again() bool
	// Prepare waits for the next send and asks for everything that it needs. An error
	// ends the loop.
	Prepare() error
}

// Loop sends again. What go-retryablehttp would do by itself is taken away: its log,
// its limits, its idea of what may be sent again, its waits, which end with a context
// alone.
type Loop struct {
	client retryablehttp.Client
	shown  sync.Pool // requests that are shown to it; nothing keeps one after Run
}

// NewLoop returns the one loop of a client.
func NewLoop() *Loop {
	return &Loop{client: retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: sends{},
			// A redirect is an answer, and one that must not be followed: key and
			// order would go along. Send returns it; this is for the loop's own answer.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt32, // the sender counts
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			return senderOf(ctx).Again(), nil
		},
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: func(r *http.Request) error { return senderOf(r.Context()).Prepare() },
		ErrorHandler: func(_ *http.Response, err error, _ int) (*http.Response, error) { return nil, err },
	}}
}

// Run sends until the sender has enough. The request that go-retryablehttp sees is none of those
// that are sent.
func (l *Loop) Run(s Sender) {
	shown, ok := l.shown.Get().(*http.Request)
	if !ok {
		shown = new(http.Request)
	}
	defer func() {
		*shown = http.Request{}
		l.shown.Put(shown)
	}()
	*shown = *bare[http.MethodGet].WithContext(s)
	shown.URL = nowhere
	resp, err := l.client.Do(&retryablehttp.Request{Request: shown})
	if err == nil {
		_ = resp.Body.Close() // empty: Send has read the real one
	}
}

// bare are what requests are copied from, by method. They are never written to.
var bare = map[string]*http.Request{
	http.MethodGet:  {Method: http.MethodGet, Header: http.Header{}},
	http.MethodPost: {Method: http.MethodPost, Header: http.Header{}},
}

// nowhere is the address of the requests that are shown to go-retryablehttp.
var nowhere = &url.URL{Scheme: "http", Host: "nowhere"}

// SenderKey is the context key under which a sender returns itself.
type SenderKey struct{}

func senderOf(ctx context.Context) Sender { return ctx.Value(SenderKey{}).(Sender) }

// sends is the bottom of go-retryablehttp: each RoundTrip is one Send. What it
// returns upwards is only the signal that the attempt is over, never an error: an
// error would make the library close other callers' idle connections.
type sends struct{}

func (sends) RoundTrip(r *http.Request) (*http.Response, error) {
	senderOf(r.Context()).Send()
	return over, nil
}

// over is never written to, so all attempts can share it.
var over = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}
