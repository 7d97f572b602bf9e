package kills

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
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
	how  string
	http http.Client
	key  int
	last string // that it was answered
}

func runBot() {
	address, network := os.Getenv("KILLS_ADDRESS"), "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	b := &bot{how: os.Getenv("KILLS_BOT")}
	b.http.Timeout = time.Second
	b.http.Transport = &http.Transport{
		DisableKeepAlives: b.how != "sessions",
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	if os.Getenv("KILLS_AGAIN") != "" && b.how != "keyed" && b.has() == yes { // it was killed, and knows nothing any more
		fmt.Println("placed")
		return
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if b.try() {
			fmt.Println("placed")
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
	r, err := http.NewRequestWithContext(context.Background(), method, "http://localhost/v1"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-API-Key", os.Getenv("KILLS_KEY"))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a, err := b.http.Do(r)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, nil
	}
	return a.StatusCode, text
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
