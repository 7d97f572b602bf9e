package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/loopback"
)

// Config is a webhook, and how it is used.
type Config struct {
	// URL is where messages are posted: https, or http to this machine.
	URL string
	// Format writes the body: Slack, Discord, Telegram(chat), or Generic if nil.
	Format Format
	// Header is sent too, such as an Authorization; it stands in no error and in no log.
	Header http.Header
	// Transport sends the requests; that of the net/http package's default if nil.
	Transport http.RoundTripper
	// Queue is how many messages wait at most: 64 unless set.
	Queue int
	// Logger gets a line for each message that was given up or dropped; nil for none.
	Logger *slog.Logger
}

const (
	defaultQueue = 64
	attemptTime  = 10 * time.Second
	firstPause   = time.Second
	longestPause = time.Minute
	longestWait  = 5 * time.Minute  // that a receiver can ask for
	giveUpAfter  = 15 * time.Minute // since the message was taken up first
	mostAnswer   = 64 << 10
)

// Notifier posts messages to one webhook. It is safe for concurrent use.
type Notifier struct {
	post    poster
	queue   int
	log     *slog.Logger
	stop    context.CancelFunc // ends attempts and pauses
	stopped context.Context
	done    chan struct{} // closed when the goroutine has ended
	more    chan struct{}

	mu      sync.Mutex
	waiting []Message
	dropped int // not delivered since the last message that was
	closing bool
	lost    int // given up, or dropped
}

// New returns a Notifier. It begins to post at once; [Notifier.Close] ends it.
func New(c Config) (*Notifier, error) {
	if err := checkURL(c.URL); err != nil {
		return nil, err
	}
	if c.Format == nil {
		c.Format = Generic
	}
	if c.Queue <= 0 {
		c.Queue = defaultQueue
	}
	n := &Notifier{
		post:  poster{url: c.URL, header: c.Header.Clone(), format: c.Format, client: newClient(c.Transport)},
		queue: c.Queue, log: c.Logger, done: make(chan struct{}), more: make(chan struct{}, 1),
	}
	n.stopped, n.stop = context.WithCancel(context.Background())
	go n.run()
	return n, nil
}

// checkURL judges a URL, which its error does not show.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return errors.New("notify: the URL is empty")
	case err != nil, u.Host == "":
		return errors.New("notify: the URL is none: it must be absolute")
	case u.User != nil:
		return errors.New("notify: the URL has a user or a password: put them into Header")
	case u.Scheme == "https", u.Scheme == "http" && loopback.Is(u.Hostname()):
		return nil
	}
	return errors.New("notify: the URL must be https: whoever reads it on the way can post")
}

// Notify puts a message into the queue, and never waits. After Close it does nothing. At is
// now, if it is not set.
func (n *Notifier) Notify(m Message) {
	if m.At.IsZero() {
		m.At = time.Now()
	}
	m.Text = clean(m.Text)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closing {
		return
	}
	if len(n.waiting) == n.queue {
		n.logLost("message dropped: the queue is full", n.waiting[0], nil)
		n.waiting = n.waiting[1:]
		n.dropped++
		n.lost++
	}
	n.waiting = append(n.waiting, m)
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// Close takes no more messages, posts those that wait until ctx ends, and ends everything.
// The error says how many messages were lost, of all.
func (n *Notifier) Close(ctx context.Context) error {
	n.mu.Lock()
	n.closing = true
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
	select {
	case <-n.done:
	case <-ctx.Done():
	}
	n.stop()
	<-n.done
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost += len(n.waiting)
	n.waiting = nil
	if n.lost > 0 {
		return fmt.Errorf("notify: %d messages were not delivered", n.lost)
	}
	return nil
}

// run posts messages until Close.
func (n *Notifier) run() {
	defer close(n.done)
	for {
		m, ok, closing := n.take()
		switch {
		case ok:
			n.deliver(m)
		case closing:
			return
		default:
			select {
			case <-n.more:
			case <-n.stopped.Done():
				return
			}
		}
		if n.stopped.Err() != nil {
			return
		}
	}
}

func (n *Notifier) take() (m Message, ok, closing bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 {
		return m, false, n.closing
	}
	m, n.waiting = n.waiting[0], n.waiting[1:]
	m.Dropped, n.dropped = n.dropped, 0
	return m, true, n.closing
}

// deliver posts a message until it is taken, refused or too old.
func (n *Notifier) deliver(m Message) {
	began, pause := time.Now(), firstPause
	for {
		wait, again, err := n.post.post(n.stopped, m)
		if err == nil {
			return
		}
		wait = max(pause, wait)
		if n.stopped.Err() != nil || !again || time.Since(began)+wait > giveUpAfter {
			n.mu.Lock()
			n.lost++
			n.dropped += m.Dropped + 1
			n.logLost("message given up", m, err)
			n.mu.Unlock()
			return
		}
		pause = min(2*pause, longestPause)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-n.stopped.Done():
			timer.Stop()
		}
	}
}

func (n *Notifier) logLost(text string, m Message, err error) {
	if n.log == nil {
		return
	}
	attrs := []any{"kind", string(m.Kind), "account", string(m.Account), "text", m.Text}
	if err != nil {
		attrs = append(attrs, "err", err.Error())
	}
	n.log.Warn(text, attrs...)
}
