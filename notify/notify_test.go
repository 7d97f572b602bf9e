package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secret = "https://hooks.example.com/services/T000/B000/verysecret?token=alsosecret"

// receiver answers posts in virtual time, without a network, by a handler.
type receiver struct {
	mu      sync.Mutex
	answer  func(n int, w http.ResponseWriter) error // an error is one of the connection
	bodies  []string
	headers []http.Header
	at      []time.Time
}

func (r *receiver) RoundTrip(q *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies, r.headers, r.at = append(r.bodies, string(body)), append(r.headers, q.Header), append(r.at, time.Now())
	w := httptest.NewRecorder()
	if r.answer != nil {
		if err := r.answer(len(r.bodies), w); err != nil {
			return nil, err
		}
	}
	return w.Result(), nil
}

func (r *receiver) sent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies
}

func open(t *testing.T, r *receiver, change ...func(*Config)) *Notifier {
	t.Helper()
	c := Config{URL: secret, Transport: r}
	for _, change := range change {
		change(&c)
	}
	n, err := New(c)
	require.NoError(t, err)
	return n
}

// within closes a Notifier, within a time.
func within(n *Notifier, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return n.Close(ctx)
}

func TestMessagesArePostedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		n := open(t, r, func(c *Config) { c.Header = http.Header{"Authorization": {"Bearer x"}} })
		for _, text := range []string{"one", "two", "three"} {
			n.Notify(Message{Kind: Halt, Account: "acc_1", Text: text})
		}
		require.NoError(t, within(n, time.Second))
		require.Len(t, r.sent(), 3)
		assert.Equal(t, `{"at":"2000-01-01T00:00:00Z","kind":"halt","account":"acc_1","text":"one"}`, r.sent()[0])
		assert.Contains(t, r.sent()[2], "three")
		assert.Equal(t, "Bearer x", r.headers[0].Get("Authorization"))
		assert.Equal(t, "application/json", r.headers[0].Get("Content-Type"))
		n.Notify(Message{Text: "after the end"})
		synctest.Wait()
		require.Len(t, r.sent(), 3)
		require.NoError(t, within(n, 0), "twice is once")
	})
}

// answers has the first requests answered with a status, and the headers that are given.
func answers(first, status int, headers ...string) func(int, http.ResponseWriter) error {
	return func(n int, w http.ResponseWriter) error {
		if n > first {
			return nil
		}
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		return nil
	}
}

// breaks has the first connections break.
func breaks(first int) func(int, http.ResponseWriter) error {
	return func(n int, _ http.ResponseWriter) error {
		if n > first {
			return nil
		}
		return errors.New("connection reset")
	}
}

const forGood = 1 << 30

func TestWhatFailsIsTriedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		answer func(n int, w http.ResponseWriter) error
		sends  int
		within time.Duration // after which the last was sent
		lost   bool
	}{
		"a connection that breaks":          {breaks(3), 4, 7 * time.Second, false},
		"503":                               {answers(1, 503), 2, time.Second, false},
		"429 with Retry-After":              {answers(1, 429, "Retry-After", "42.5"), 2, 43 * time.Second, false},
		"a Retry-After of a year":           {answers(1, 429, "Retry-After", "31536000"), 2, 5 * time.Minute, false},
		"a Retry-After that is none":        {answers(1, 429, "Retry-After", "-5"), 2, time.Second, false},
		"404 for good":                      {answers(forGood, 404), 1, 0, true},
		"a redirect, which is not followed": {answers(forGood, 307, "Location", "https://elsewhere.example.com/"), 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{answer: row.answer}
				n := open(t, r)
				began := time.Now()
				n.Notify(Message{Text: "x"})
				err := within(n, time.Hour)
				assert.Equal(t, row.lost, err != nil, "%v", err)
				require.Len(t, r.sent(), row.sends)
				assert.Equal(t, row.within, r.at[row.sends-1].Sub(began))
			})
		})
	}
}

// A receiver that is away for good costs one message a quarter of an hour, and no memory.
func TestAReceiverThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: breaks(forGood)}
		n := open(t, r, func(c *Config) { c.Queue = 4 })
		for range 100 {
			n.Notify(Message{Text: "x"})
			time.Sleep(time.Minute)
		}
		n.mu.Lock()
		waiting := len(n.waiting)
		n.mu.Unlock()
		assert.LessOrEqual(t, waiting, 4)
		assert.Less(t, len(r.sent()), 200)
		began := time.Now()
		require.ErrorContains(t, within(n, time.Second), "notify: 100 messages were not delivered")
		assert.Equal(t, time.Second, time.Since(began), "Close ends a pause")
	})
}

// The next message says how many the queue had no room for.
func TestWhatIsDroppedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: breaks(1)}
		n := open(t, r, func(c *Config) { c.Queue = 2 })
		for _, text := range []string{"first", "a", "b", "c", "d", "e"} {
			n.Notify(Message{Text: text})
			synctest.Wait()
		}
		require.ErrorContains(t, within(n, time.Minute), "3 messages were not delivered")
		var texts []string
		for _, body := range r.sent() {
			var m struct {
				Text    string
				Dropped int
			}
			require.NoError(t, json.Unmarshal([]byte(body), &m))
			texts = append(texts, m.Text)
			if m.Text == "d" {
				assert.Equal(t, 3, m.Dropped)
			} else {
				assert.Zero(t, m.Dropped)
			}
		}
		assert.Equal(t, []string{"first", "first", "d", "e"}, texts)
	})
}

// Neither a body nor an error nor the log shows the URL, a header or an API key.
func TestNoSecretGetsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		r := &receiver{}
		r.answer = func(n int, w http.ResponseWriter) error {
			if n == 1 {
				return errors.New("proxy refused POST " + secret + " and /services/T000/B000/verysecret?token=alsosecret")
			}
			w.WriteHeader(403)
			_, _ = w.Write([]byte(secret))
			return nil
		}
		n := open(t, r, func(c *Config) {
			c.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c.Header = http.Header{"X-Token": {"headersecret"}}
			c.Format = Slack
			c.Queue = 1
		})
		n.Notify(Message{Text: "failed with pk_live_abcdef123 and pk_test_xyz, both"})
		err := within(n, time.Minute)
		require.Error(t, err)
		all := logged.String() + err.Error() + strings.Join(r.sent(), "")
		require.Contains(t, logged.String(), "message given up")
		for _, word := range []string{"verysecret", "alsosecret", "headersecret", "abcdef123", "xyz"} {
			assert.NotContains(t, all, word)
		}
		assert.Contains(t, all, "pk_live_… and pk_test_…")
		_, _, failed := n.post.post(context.Background(), Message{})
		assert.NotContains(t, failed.Error(), "secret")
	})
	for _, url := range []string{"", "hooks.example.com/verysecret", "http://hooks.example.com/verysecret", "https://u:verysecret@hooks.example.com", "://verysecret", "https://x/\x7fverysecret"} {
		_, err := New(Config{URL: url})
		require.Error(t, err, url)
		assert.NotContains(t, err.Error(), "verysecret")
	}
}

func TestFormats(t *testing.T) {
	m := Message{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Kind: Pending, Account: "acc_1", Text: `<!channel> & "you" @everyone`, Dropped: 2}
	for name, row := range map[string]struct {
		format Format
		want   string
	}{
		"Slack":    {Slack, `{"text":"[pending] acc_1: &lt;!channel&gt; &amp; \"you\" @everyone (2026-01-02 03:04:05 UTC); 2 messages before it were dropped"}`},
		"Discord":  {Discord, `{"allowed_mentions":{"parse":[]},"content":"[pending] acc_1: <!channel> & \"you\" @everyone (2026-01-02 03:04:05 UTC); 2 messages before it were dropped"}`},
		"Telegram": {Telegram("@desk"), `{"chat_id":"@desk","text":"[pending] acc_1: <!channel> & \"you\" @everyone (2026-01-02 03:04:05 UTC); 2 messages before it were dropped"}`},
		"Generic":  {Generic, `{"at":"2026-01-02T03:04:05Z","kind":"pending","account":"acc_1","text":"<!channel> & \"you\" @everyone","dropped":2}`},
	} {
		body, err := row.format(m)
		require.NoError(t, err, name)
		assert.JSONEq(t, row.want, string(body), name)
	}
}

// What a service allows of a message is kept to, whatever a text holds: Discord takes 2,000
// characters, Telegram 4,096.
func TestALongTextIsCut(t *testing.T) {
	for _, unit := range []string{"x", "ü", "€", "\xff", "\n"} {
		text := clean(strings.Repeat(unit, 10_000))
		assert.LessOrEqual(t, len(text), mostText+len("…"))
		assert.NotContains(t, text, "\n")
		body, err := Discord(Message{Kind: Floor, Account: "acc_1", Text: text, Dropped: 1_000_000})
		require.NoError(t, err)
		var sent struct{ Content string }
		require.NoError(t, json.Unmarshal(body, &sent))
		assert.LessOrEqual(t, len([]rune(sent.Content)), 2000)
		assert.True(t, json.Valid(body))
	}
}

// One that is given up is counted like one that is dropped.
func TestWhatIsGivenUpIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answer: answers(2, 400)}
		n := open(t, r)
		for range 3 {
			n.Notify(Message{Text: "x"})
		}
		require.ErrorContains(t, within(n, time.Minute), "2 messages were not delivered")
		assert.Contains(t, r.sent()[2], `"dropped":2`)
	})
}

func TestAFormatThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{}
		n := open(t, r, func(c *Config) { c.Format = func(Message) ([]byte, error) { return nil, errors.New("no") } })
		n.Notify(Message{Text: "x"})
		require.Error(t, within(n, time.Minute))
		assert.Empty(t, r.sent())
	})
}
