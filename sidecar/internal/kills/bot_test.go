package kills

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// bots are what a bot does when it does not hear. Each wants one position of 0.01 BTC.
var bots = []string{
	"keyed",    // asks again under the same key, until it is told that this says nothing
	"repeats",  // asks again with the same bytes, without a key
	"decides",  // reads its positions at once, and decides again under a new key
	"renews",   // asks again under a new key, and reads only if it is refused
	"sessions", // asks again with the same bytes, on a connection that it keeps
}

const buy = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`

// bot is one that runs until it knows that it has its position.
type bot struct {
	how    string
	secret string // its local key
	http   http.Client
	key    int
	last   string // that it was answered
	gaveUp int    // how many answers it took off its connection, and gave up all the same
}

// tookAndGaveUp is what a bot says of itself that took an answer off its connection when its time
// was over: nobody else can know that it did not hear.
const tookAndGaveUp = "took an answer and gave it up, "

// newBot is one that gives up after a second.
func newBot(how, address, secret string) *bot {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	b := &bot{how: how, secret: secret}
	b.http.Timeout = time.Second
	b.http.Transport = &http.Transport{
		DisableKeepAlives: how != "sessions",
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	return b
}

func runBot() {
	if os.Getenv("KILLS_BOT") == obedientBot {
		runObedient()
		return
	}
	b := newBot(os.Getenv("KILLS_BOT"), os.Getenv("KILLS_ADDRESS"), os.Getenv("KILLS_KEY"))
	if os.Getenv("KILLS_AGAIN") != "" && b.how != "keyed" && b.has() == yes { // it was killed, and knows nothing any more
		fmt.Println("placed")
		return
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if b.try() {
			fmt.Println(strings.Repeat(tookAndGaveUp, min(b.gaveUp, 1)) + "placed")
			return
		}
	}
	fmt.Println("gave up:", b.last)
}

type answer uint8

const (
	none answer = iota // or one that says nothing
	yes
	no
)

// ask sends a request, and returns its status and body; 0 without an answer.
func (b *bot) ask(method, path, body, key string) (int, []byte) {
	status, _, text := b.askAll(method, path, body, key)
	return status, text
}

// askAll returns the headers too.
func (b *bot) askAll(method, path, body, key string) (int, http.Header, []byte) {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://localhost/v1"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-API-Key", b.secret)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	var took atomic.Bool
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { took.Store(true) }}))
	status, header, text := b.send(r)
	if status == 0 {
		time.Sleep(time.Millisecond) // the connection's reader may be at it
		if took.Load() && method == http.MethodPost {
			b.gaveUp++
		}
	}
	return status, header, text
}

func (b *bot) send(r *http.Request) (int, http.Header, []byte) {
	a, err := b.http.Do(r)
	if err != nil {
		return 0, nil, nil
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, nil, nil
	}
	return a.StatusCode, a.Header, text
}

// has reads whether the account has a position.
func (b *bot) has() answer {
	status, text := b.ask(http.MethodGet, "/positions?accountId=acc_1", "", "")
	var is struct{ Positions []any }
	switch {
	case status != http.StatusOK || json.Unmarshal(text, &is) != nil:
		return none
	case len(is.Positions) > 0:
		return yes
	default:
		return no
	}
}

// try asks for the position once, and reports whether it is there.
func (b *bot) try() bool {
	key := ""
	switch b.how {
	case "keyed":
		key = fmt.Sprint("entry-", b.key)
	case "decides", "renews":
		b.key++
		key = fmt.Sprint("entry-", os.Getpid(), "-", b.key)
	}
	status, text := b.ask(http.MethodPost, "/orders", buy, key)
	b.last = fmt.Sprintf("%d %s", status, text)
	final := status == http.StatusUnprocessableEntity || strings.Contains(string(text), "idempotency_result_unknown")
	if status == http.StatusOK {
		return true
	}
	if b.how != "decides" && !final {
		return false
	}
	has := b.has() // as the contract says
	if has == no && b.how == "keyed" {
		b.key++
	}
	return has == yes
}
