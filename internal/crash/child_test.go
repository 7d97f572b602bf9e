package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	durable "github.com/tradingapi/trading-go/journal"
)

// A real bot is this test binary once more, with the durable journal on the disk.
// It lives in a bubble, so that its time is virtual: it stands still while the
// child talks to its parent or waits for its disk, and needs none otherwise.

// TestChild is the bot's process; its parent starts it.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		t.Skip("for the parents of this package alone")
	}
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if o.Loopback != "" {
		o.follow()
	}
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(o.Start)) // bubbles begin in the year 2000
		o.follow()
	})
}

// follow is the child's life. It does not return.
func (o orders) follow() {
	r := &remote{in: json.NewDecoder(bufio.NewReader(os.Stdin)), out: os.Stdout}
	j, err := durable.Open(o.Journal, durable.Options{})
	if err != nil {
		r.problem("the journal cannot be opened: " + err.Error())
		r.exit()
	}
	b := &bot{
		schedule: o.Family.schedule(o.Seed), host: r, life: o.Life, ctx: context.Background(),
		url: o.URL, key: o.Key, disk: j,
	}
	if o.Loopback != "" {
		b.host = newLoopback(r, o.Loopback)
	}
	b.run()
}

// remote is the world of a real bot: its parent.
type remote struct {
	mu  sync.Mutex
	in  *json.Decoder
	out io.Writer
}

var _ host = (*remote)(nil)

// say tells the parent, and returns once it has answered.
func (r *remote) say(m message) (a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.At = time.Now().Round(0)
	text, err := json.Marshal(m)
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	if err == nil {
		err = r.in.Decode(&a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the parent is gone:", err)
		os.Exit(3)
	}
	return a
}

// look is how long a child waits until it asks again what has become of an errand.
// Whatever takes time in this package takes a multiple of it.
const look = 250 * time.Millisecond

func (r *remote) carry(what string, req *http.Request) (*http.Response, error) {
	a := r.say(message{Request: new(request).of(req, what)})
	for left := false; !a.Done; {
		m := message{Errand: a.Errand}
		switch {
		case a.WantBody:
			body, err := io.ReadAll(req.Body)
			if err != nil {
				panic(err)
			}
			m.Body = &body
		case left:
			panic("an errand goes on that nobody waits for")
		default:
			left = !pause(req.Context(), look)
			m.Leave = left
		}
		a = r.say(m)
	}
	return a.Response.result(req)
}

func (r *remote) ownerActs(at moment) {
	for a := r.say(message{Owner: at}); !a.Done; a = r.say(message{Errand: a.Errand}) {
		time.Sleep(look)
	}
}

func (r *remote) exit() {
	r.say(message{Exit: true})
	os.Exit(0)
}

func (r *remote) step(what string) bool {
	r.say(message{Step: what})
	return false
}

func (r *remote) gone() bool { return false }

func (r *remote) begun(id trading.IntentID, key trading.Key) {
	r.say(message{Begun: &begun{id, key}})
}

func (r *remote) tell(t told)           { r.say(message{Told: &t}) }
func (r *remote) note(text string)      { r.say(message{Note: text}) }
func (r *remote) unknown(reason string) { r.say(message{Unknown: reason}) }
func (r *remote) problem(text string)   { r.say(message{Problem: text}) }
