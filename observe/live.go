package observe

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// The scripts of live accounts that cannot trade. Each round has a fresh random key.
const (
	scriptOrder  = "order"  // cancels of an order: the steps below
	scriptRun    = "run"    // the same of a run
	scriptBare   = "bare"   // a cancel without an account, twice
	scriptTwice  = "twice"  // a cancel with two keys in two headers
	scriptKeys   = "keys"   // a cancel by one API key, and again by another
	scriptBeside = "beside" // eight equal cancels at once
	scriptStays  = "stays"  // a cancel, and again after 23 hours
	scriptGone   = "gone"   // a cancel, and again after 25 hours
	scriptKept   = "kept"   // the first visit of the former, again after an hour: it votes on nothing, and is measured
)

// The steps of the scripts order and run.
const (
	stepFirst     = iota // a cancel of what cannot exist
	stepAgain            // the same bytes
	stepAnother          // of another that cannot exist
	stepSpaced           // the first, in other bytes of the same meaning
	stepElsewhere        // the cancel of the other route
	stepBare             // without an account, where that is asked
)

// liveVisit asks what is due.
type liveVisit struct {
	*sender
	account string // empty for nobody's
	locked  string // one that is FAILED or EXPIRED; empty for none
	before  string // what health said at the beginning of the round
	// bare says that bodies without an account may leave: a service could take them for all accounts, so none of the
	// key's has anything to cancel. unbare says why not.
	bare   bool
	unbare string
}

// gaps are how long after a request the same bytes follow, by the round.
var gaps = []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second, time.Second}

// scripts is how many rounds of each script a visit asks, in its order.
type scripts []struct {
	name   string
	rounds int
}

var (
	firstVisit = scripts{{scriptOrder, 2}, {scriptRun, 2}, {scriptStays, 2}, {scriptGone, 2}, {scriptBare, 4}, {scriptTwice, 2}} // and two to find whom to name
	hourVisit  = scripts{{scriptOrder, 2}, {scriptRun, 2}, {scriptBare, 4}, {scriptTwice, 6}}
	lateVisit  = scripts{{scriptBeside, 2}, {scriptKeys, 4}}
)

// newKey is a random key in the form of a UUID, as the client's own.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (v *liveVisit) run(ctx context.Context, all scripts) error {
	for _, s := range all {
		for n := range s.rounds {
			if s.name == scriptKeys && v.q.SecondKey == "" {
				continue
			}
			if s.name == scriptBare && !v.bare {
				v.e.Rounds = append(v.e.Rounds, Round{Script: scriptBare, Void: v.unbare})
				continue
			}
			if err := v.round(ctx, s.name, n); err != nil {
				return err
			}
			if v.account == "" && v.locked != "" && v.inFront() {
				// What the service says of an account of nobody is no word on one's own.
				v.account = v.locked
				if err := v.round(ctx, s.name, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inFront reports whether the last round shows that an account of nobody is refused in front of
// the key. Then it does not count.
func (v *liveVisit) inFront() bool {
	last := &v.e.Rounds[len(v.e.Rounds)-1]
	if last.Void != "" || !last.inFront() {
		return false
	}
	last.Void = "an account of nobody is refused in front of the key"
	return true
}

// inFront reports whether the account may be refused in front of the key, by the first answers of a round.
func (r *Round) inFront() bool {
	t := &Tally{}
	if r.Script == scriptOrder || r.Script == scriptRun {
		voteStored(r, t)
	}
	return t.inFront()
}

// round asks one round. What a bot or a person does beside it stops the visit.
func (v *liveVisit) round(ctx context.Context, script string, n int) error {
	if err := v.mayAsk(ctx); err != nil {
		return err
	}
	r := Round{Script: script, own: v.account != "" && v.account == v.q.Tradeable}
	err := v.steps(ctx, &r, n)
	for _, step := range r.Steps {
		r.Void = cmp.Or(r.Void, step.voids())
		if step != nil && r.own && (step.Code == codeLocked || step.Code == codeNoAccount) {
			r.Void = "the account is not tradeable any more"
			err = cmp.Or(err, v.end("account %s is not tradeable any more", v.account))
		}
	}
	if err == nil {
		var now string
		if now, err = v.health(ctx); now != v.before {
			r.Void = cmp.Or(r.Void, "health changed")
		}
	}
	if err != nil {
		r.Void = cmp.Or(r.Void, "it was not finished")
	}
	if script == scriptStays || script == scriptGone { // it counts with its second visit
		if r.Void == "" && r.fresh() != nil {
			v.begin(script, r.Steps[0])
		}
		return err
	}
	v.e.Rounds = append(v.e.Rounds, r)
	return err
}

// mayAsk looks at health, at the bot and at the account before a round.
func (v *liveVisit) mayAsk(ctx context.Context) (err error) {
	if err := v.q.held(v.account); err != nil {
		return v.end("%v", err)
	}
	if v.before, err = v.health(ctx); err != nil {
		return err
	}
	if v.account == "" {
		return nil
	}
	now, err := v.list(ctx)
	if err != nil {
		return err
	}
	named := func(a account) bool { return a.id == v.account }
	switch i := slices.IndexFunc(now, named); {
	case i < 0:
		return v.end("account %s is gone", v.account)
	case v.account == v.q.Tradeable && now[i].trades():
		return v.nothingWaits(ctx, v.account)
	case v.account != v.q.Tradeable && now[i].locked():
		return nil
	default:
		return v.end("account %s is %s now", v.account, strings.ToLower(now[i].status))
	}
}

// nothingWaits ends the visit where something rests or runs on an account.
func (s *sender) nothingWaits(ctx context.Context, account string) error {
	empty, err := s.empty(ctx, account)
	if err == nil && !empty {
		err = s.end("something rests or runs on %s, or cannot be read", account)
	}
	return err
}

// empty reports whether nothing rests or runs on an account.
func (s *sender) empty(ctx context.Context, account string) (bool, error) {
	x, err := s.read(ctx, 0, liveKey, "/accounts/"+account+"/orders")
	if err != nil {
		return false, err
	}
	orders, ok := rows(member(x.Response, "orders"), "")
	runs, okay := rows(member(x.Response, "runs"), "")
	return ok && okay && len(orders)+len(runs) == 0, nil
}

// mayBare looks at all accounts that trade, before bodies that name none.
func (v *liveVisit) mayBare(ctx context.Context, accounts []account) error {
	const most = 10
	if v.unnamed {
		v.unbare = "the key has an account that cannot be looked at, on which a body without an account might cancel something"
		return nil
	}
	n := 0
	for _, a := range accounts {
		if a.archived || a.locked() {
			continue
		}
		if n++; n > most {
			v.unbare = fmt.Sprintf("the key has more than %d accounts, on which a body without an account might cancel something", most)
			return nil
		}
		empty, err := v.empty(ctx, a.id)
		if err != nil {
			return err
		}
		if !empty {
			v.unbare = "something rests or runs on an account of the key, which a body without an account might cancel"
			return nil
		}
	}
	v.bare = true
	return nil
}

// health is what the service says of itself.
func (s *sender) health(ctx context.Context) (string, error) {
	x, err := s.read(ctx, 0, noKey, "/health")
	if err != nil {
		return "", err
	}
	return text(member(x.Response, "status")) + " " + text(member(x.Response, "feed")), nil
}

// body is a template with the account of this visit.
func (v *liveVisit) body(key, path string, form int, id string) string {
	account := v.account
	if account == "" {
		account = nobody(key)
	}
	return fill(bodiesOf(path)[form], account, id)
}

// cancel sends a live write of a round.
func (v *liveVisit) cancel(ctx context.Context, r *Round, q request) error {
	q.method, q.as = http.MethodPost, cmp.Or(q.as, liveKey)
	x, err := v.write(ctx, q)
	r.Steps = append(r.Steps, x)
	return err
}

// steps sends the requests of a round. Equal requests follow each other over one connection in
// the even rounds, and over two in the odd ones.
func (v *liveVisit) steps(ctx context.Context, r *Round, n int) error {
	key, path, elsewhere := newKey(), cancelOrder, cancelRun
	if r.Script == scriptRun || n%2 == 1 && r.Script != scriptOrder {
		path, elsewhere = elsewhere, path
	}
	line := n
	if r.Script == scriptRun {
		line += 2
	}
	plain := request{line: line, path: path, keys: []string{key}, body: v.body(key, path, plainBody, impossible(key))}
	bare := request{line: line, path: path, keys: []string{key}, body: v.body(key, path, bareBody, impossible(key))}
	switch r.Script {
	case scriptOrder, scriptRun:
		other := request{line: line + 2, path: path, keys: []string{key}, body: v.body(key, path, plainBody, another(key))}
		spaced := request{line: line + 3, path: path, keys: []string{key}, body: v.body(key, path, spacedBody, impossible(key))}
		route := request{line: line + 2, path: elsewhere, keys: []string{key}, body: v.body(key, elsewhere, plainBody, impossible(key))}
		more := []request{other, spaced, route}
		if v.bare {
			more = append(more, bare)
		}
		return v.chain(ctx, r, v.gap(r, n), plain, more...)
	case scriptBare:
		return v.chain(ctx, r, gaps[n%len(gaps)], bare)
	case scriptTwice:
		plain.keys = append(plain.keys, newKey())
		return v.cancel(ctx, r, plain)
	case scriptKeys:
		if err := v.cancel(ctx, r, plain); err != nil {
			return err
		}
		plain.as, plain.line = secondKey, line+1
		return v.cancel(ctx, r, plain)
	case scriptBeside:
		return v.beside(ctx, r, plain)
	default:
		return v.cancel(ctx, r, plain)
	}
}

// gap is the time to the same bytes again: over the four rounds of a visit each of gaps.
func (v *liveVisit) gap(r *Round, n int) time.Duration {
	if r.Script == scriptRun {
		n += 2
	}
	return gaps[n%len(gaps)]
}

// chain sends the first request twice, with a gap between, and then the others.
func (v *liveVisit) chain(ctx context.Context, r *Round, gap time.Duration, first request, more ...request) error {
	if err := v.cancel(ctx, r, first); err != nil {
		return err
	}
	if err := v.q.Clock.Sleep(ctx, gap); err != nil {
		return err
	}
	again := first
	again.soon = gap < writePace
	again.line += first.line % 2
	for i, next := range append([]request{again}, more...) {
		if err := v.cancel(ctx, r, next); err != nil {
			return err
		}
		if i == 0 && v.account == "" && v.locked != "" && r.inFront() {
			return nil // the round is asked again, of an account that there is
		}
	}
	return nil
}

// beside sends eight equal requests at once.
func (v *liveVisit) beside(ctx context.Context, r *Round, q request) error {
	const at = 8
	q.method, q.as = http.MethodPost, liveKey
	for i := range at {
		q.soon = i > 0
		if err := v.turn(ctx, q); err != nil {
			return err
		}
	}
	var err error
	r.Steps, err = v.together(ctx, q, at)
	return err
}

// begin notes the first visit of what needs two.
func (v *liveVisit) begin(script string, x *Exchange) {
	number, after := "A4", staysAfter
	if script == scriptGone {
		number, after = "A5", goneAfter
	}
	v.e.Begun = append(v.e.Begun, profile.Begun{
		Experiment: number, At: x.Sent, Due: x.Sent.Add(after), Key: x.Key, Operation: x.Operation, Account: profile.Token("account", v.account),
	})
}

// When the second visits are due, and how late the first of them may come: the 24 hours run
// from a moment that nobody knows.
const (
	hourAfter  = time.Hour
	staysAfter = 23 * time.Hour
	staysLate  = 23*time.Hour + 50*time.Minute
	goneAfter  = 25 * time.Hour
)

// revisit sends the bytes of a first visit again.
func (v *liveVisit) revisit(ctx context.Context, script string, b profile.Begun) error {
	if err := v.mayAsk(ctx); err != nil {
		return err
	}
	r := Round{Script: script, begun: &b}
	path := strings.TrimPrefix(b.Operation, "POST ")
	if bodiesOf(path) == nil || !asID(b.Key) {
		return nil // not of this version
	}
	err := v.cancel(ctx, &r, request{path: path, keys: []string{b.Key}, body: v.body(b.Key, path, plainBody, impossible(b.Key))})
	r.Void = r.Steps[0].voids()
	v.e.Rounds = append(v.e.Rounds, r)
	return err
}
