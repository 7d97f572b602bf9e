package kills

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/testing/obedient"
)

// obedientBot does what the answers and the pages say.
const obedientBot = "obedient"

// runObedient is its program. It knows nothing of an earlier run.
func runObedient() {
	pages, err := obedient.ReadHTTP()
	if err != nil {
		fmt.Println(err)
		return
	}
	b, end := newBot("sessions", os.Getenv("KILLS_ADDRESS"), os.Getenv("KILLS_KEY")), time.Now().Add(2*time.Minute)
	bot := &obedient.HTTPBot{
		HTTPPages: pages, Account: "acc_1", Symbol: "BTC", Keyed: os.Getpid()%2 == 0, Name: fmt.Sprint("run-", os.Getpid()),
		Sleep: func(d time.Duration) bool {
			time.Sleep(d)
			return time.Now().Before(end)
		},
		Alert: func(a obedient.Answer) { fmt.Printf("tells a person: %d %s\n", a.Status, a.Body) },
		Send:  b.answered,
	}
	if bot.Pursue(decimal.New(1, -2)) != obedient.Held {
		fmt.Println("gave up:", b.last)
		return
	}
	fmt.Println(strings.Repeat(tookAndGaveUp, min(b.gaveUp, 1)) + "placed")
}

// afterReading is the same moment of a bot that waits before it decides.
func afterReading(at time.Duration) time.Duration {
	const waits = 5 * time.Second
	if at == 0 {
		return 0
	}
	return waits + at
}

// answered is a request of it.
func (b *bot) answered(method, path, body, key string) obedient.Answer {
	status, header, text := b.askAll(method, path, body, key)
	b.last = fmt.Sprintf("%d %s", status, text)
	return obedient.Answer{Status: status, Header: header, Body: text}
}

// Whoever is killed, and whenever: the order of a bot that does what the answers and the pages say runs once,
// and it knows.
func TestKillsOfAnObedientBot(t *testing.T) {
	n := *runs
	if n == 0 {
		n = map[bool]int{true: 2, false: 8}[testing.Short()]
	}
	play(t, n, obeys)
}
