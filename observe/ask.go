package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// Clock is the time that a visit goes by.
type Clock struct {
	Now   func() time.Time                           // the time
	Sleep func(context.Context, time.Duration) error // waits, or returns the error of the context
}

// Questions say what to ask, whom, and beside what.
type Questions struct {
	// BaseURL is the root of the API, which ends in /v1.
	BaseURL string
	// LiveKey and SandboxKey are the API keys. SecondKey is another live key of the same holder,
	// for A15; it may be empty.
	LiveKey, SecondKey, SandboxKey string
	// SecondSandboxKey is another sandbox key of the same holder, for 30; it may be empty.
	SecondSandboxKey string
	// Classes are what to ask: Reads, Locked, OnPaper, Trial.
	Classes []Class
	// Tradeable is an active account on which nothing rests or runs: cancels of what cannot exist
	// may name it. Without it they name an account of nobody, or one that is FAILED or EXPIRED.
	Tradeable string
	// TrialAccount is the account of Trial, and Symbol the market of Trial and OnPaper.
	TrialAccount, Symbol string
	// Note is the beginning of the names of files that say that a run trades: what one that was
	// killed has left open, the next visit closes first, whatever it asks.
	Note string
	// Before is the profile so far; nil if there is none.
	Before *profile.Profile
	// Journal is the journal of a bot of these keys, and StateDir the folder of its protection. A
	// pending write, and a halt, stop a visit. Empty for none.
	Journal, StateDir string
	// Wait waits until the bot's own shared limits have room for an operation; nil if it has none.
	Wait func(ctx context.Context, operation string) error
	// Connect returns a transport that opens connections of its own, follows no redirect and sends
	// nothing twice. nil makes one of net/http.
	Connect func() http.RoundTripper
	// Clock is the machine's unless set.
	Clock Clock

	accounts []string // of the key, once they are known
}

// NotDueError means that a visit would come too early.
type NotDueError struct {
	Due time.Time // when one is
}

// Error says when the next visit is due.
func (e *NotDueError) Error() string {
	return "observe: nothing is due before " + e.Due.UTC().Format(time.RFC3339)
}

// Due returns what a profile has begun: what is due, and what is not yet.
func Due(p *profile.Profile, now time.Time) (due, later []profile.Begun) {
	if p == nil {
		return nil, nil
	}
	for _, b := range p.Begun {
		if b.Due.After(now) {
			later = append(later, b)
		} else {
			due = append(due, b)
		}
	}
	return due, later
}

func (q *Questions) connect() http.RoundTripper {
	if q.Connect != nil {
		return q.Connect()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: patience, IdleConnTimeout: time.Minute}
}

// wants reports whether a class is asked.
func (q *Questions) wants(c Class) bool { return slices.Contains(q.Classes, c) }

// before is what the profile so far says of an experiment on live accounts; nothing if there is none.
func (q *Questions) before(number string) (r profile.Result) {
	if q.Before != nil {
		r, _ = q.Before.Result(number, profile.Live)
	}
	return r
}

// check says what is wrong with the questions.
func (q *Questions) check() error {
	switch {
	case (q.wants(Reads) || q.wants(Locked) || q.wants(Trial)) && q.LiveKey == "":
		return errors.New("observe: a live key is missing")
	case q.Tradeable != "" && !asID(q.Tradeable):
		return errors.New("observe: the tradeable account is no id")
	case q.wants(OnPaper) && q.SandboxKey == "":
		return errors.New("observe: a sandbox key is missing")
	case q.wants(Trial) && !asID(q.TrialAccount):
		return errors.New("observe: the trial account is missing, or no id")
	case (q.wants(Trial) || q.wants(OnPaper)) && (q.Note == "" || !asID(q.Symbol)):
		return errors.New("observe: a market is missing, or a file for what a run leaves when it is killed")
	default:
		return nil
	}
}

// Plan says how much a visit sends at the most, one line a class.
func (q *Questions) Plan() (lines []string) {
	for _, class := range q.Classes {
		switch class {
		case Reads:
			lines = append(lines, fmt.Sprintf("read: at most %d requests in a quarter of a minute, none of which changes anything", mostReads))
		case Locked:
			lines = append(lines, fmt.Sprintf("live: at most %d cancels of what cannot exist, one a second, and %d reads, in a minute; nothing can trade", maxWrites, mostReads))
		case OnPaper:
			lines = append(lines, fmt.Sprintf("paper: %d writes that trade %s on the paper account, about %d dollars each, and about %d closes behind them, in a quarter of an hour; it is left flat", writesOf(paperScripts), q.Symbol, dollars, roundsOf(paperScripts)))
		case Trial:
			lines = append(lines, fmt.Sprintf("trial: %d writes that trade %s on account %s, about %d dollars each, and about %d closes behind them, in half an hour; it is left flat", writesOf(trialScripts), q.Symbol, q.TrialAccount, dollars, roundsOf(trialScripts)))
		}
	}
	return lines
}

// Ask asks a service, and returns what it answered. A visit that ended early has its reason in
// Ended, and what was seen until then. Give the evidence to [Judge] with the profile so far.
func Ask(ctx context.Context, q Questions) (*Evidence, error) {
	if q.Clock.Now == nil {
		q.Clock = Clock{Now: time.Now, Sleep: sleep}
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	e := &Evidence{asked: true}
	s, err := newSender(&q, e)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if q.Before != nil {
		e.Begun = slices.Clone(q.Before.Begun)
	}
	if err := s.who(ctx); err != nil {
		return nil, err
	}
	if err := s.finish(ctx); err != nil {
		return nil, err
	}
	for _, class := range []struct {
		class Class
		ask   func(context.Context) error
	}{{Trial, s.trial}, {OnPaper, s.paper}, {Reads, s.reads}, {Locked, s.live}} {
		if !q.wants(class.class) {
			continue
		}
		if err = class.ask(ctx); err != nil {
			break
		}
	}
	if errors.Is(err, errEnded) && !errors.As(err, new(*NotFlatError)) {
		e.Ended = strings.TrimPrefix(err.Error(), errEnded.Error()+": ")
		err = nil
	}
	return e, err
}

// who asks whose keys these are. A profile of another service, or of somebody else, does not go on.
func (s *sender) who(ctx context.Context) error {
	before := s.q.Before
	if before != nil && before.BaseURL != "" && before.BaseURL != rootOf(s.q.BaseURL) {
		return fmt.Errorf("observe: the profile is of %s, and not of %s: name another file", before.BaseURL, rootOf(s.q.BaseURL))
	}
	as := liveKey
	if s.q.LiveKey == "" {
		as = sandboxKey
	}
	x, err := s.read(ctx, 0, as, "/me")
	if err != nil {
		return err
	}
	s.e.Holder = text(member(x.Response, "userId"))
	if before != nil && before.Holder != "" && before.Holder != profile.Token("holder", s.e.Holder) {
		return errors.New("observe: the profile is of another holder's keys: name another file")
	}
	if err := s.second(ctx, "live", s.q.wants(Locked), x, liveKey, secondKey, s.q.SecondKey); err != nil {
		return err
	}
	return s.second(ctx, "sandbox", s.q.wants(OnPaper), x, sandboxKey, secondSandboxKey, s.q.SecondSandboxKey)
}

// second makes sure that a second key is another key of the same holder: of one that is not, the answers would show
// what they do not.
func (s *sender) second(ctx context.Context, name string, asked bool, holder *Exchange, as, other credential, key string) error {
	if !asked || key == "" {
		return nil
	}
	first, err := s.read(ctx, 0, as, "/me")
	if err != nil {
		return err
	}
	second, err := s.read(ctx, 0, other, "/me")
	if err != nil {
		return fmt.Errorf("observe: the second %s key: %w", name, err)
	}
	id := text(member(second.Response, "keyId"))
	switch {
	case id == "" || id == text(member(first.Response, "keyId")):
		return fmt.Errorf("observe: the second %s key is the first one, or it is not known which", name)
	case text(member(second.Response, "userId")) != text(member(holder.Response, "userId")):
		return fmt.Errorf("observe: the second %s key is of another holder", name)
	default:
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// live asks what can be asked without trading: the first visit of a series, or what is due of it.
func (s *sender) live(ctx context.Context) error {
	accounts, err := s.list(ctx)
	if err != nil {
		return err
	}
	now := s.q.Clock.Now()
	due, later := Due(s.q.Before, now)
	if len(due)+len(later) == 0 {
		return s.firstVisit(ctx, accounts, now)
	}
	if len(due) == 0 {
		return &NotDueError{slices.MinFunc(later, func(a, b profile.Begun) int { return a.Due.Compare(b.Due) }).Due}
	}
	return s.laterVisit(ctx, accounts, due, later)
}

// firstVisit begins a series: one a day.
func (s *sender) firstVisit(ctx context.Context, accounts []account, now time.Time) error {
	const day = 24 * time.Hour
	if r := s.q.before("A1"); r.Connections > 0 && now.Sub(r.At) < day {
		return &NotDueError{r.At.Add(day)}
	}
	v := &liveVisit{sender: s}
	if err := cmp.Or(v.choose(accounts), v.mayBare(ctx, accounts)); err != nil {
		return err
	}
	err := v.run(ctx, firstVisit)
	if len(s.e.Rounds) > 0 {
		s.again(now)
	}
	return err
}

// again notes that the rounds of a series go on in an hour. One whose rounds do not count for long is given up.
func (s *sender) again(began time.Time) {
	const longest = 5 * hourAfter
	if now := s.q.Clock.Now(); now.Sub(began) < longest {
		s.e.Begun = append(s.e.Begun, profile.Begun{Experiment: "A1", At: began, Due: now.Add(hourAfter)})
	}
}

// laterVisit asks what is due. What comes too late is given up.
func (s *sender) laterVisit(ctx context.Context, accounts []account, due, later []profile.Begun) error {
	v := &liveVisit{sender: s}
	if err := v.choose(accounts); err != nil {
		return err
	}
	s.e.Begun = later
	rest := slices.Clone(due)
	slices.SortStableFunc(rest, func(a, b profile.Begun) int { return roundsLast(a) - roundsLast(b) })
	defer func() { s.e.Begun = append(s.e.Begun, rest...) }() // what an early end has not reached, or what can wait
	late := false
	for ; len(rest) > 0 && rest[0].Experiment != "A1"; rest = rest[1:] {
		b := rest[0]
		if b.Experiment == "A4" && s.q.Clock.Now().Sub(b.At) > staysLate {
			continue
		}
		if late = true; !v.chooseBegun(accounts, b) {
			continue
		}
		if err := v.revisit(ctx, map[string]string{"A4": scriptStays, "A5": scriptGone}[b.Experiment], b); err != nil {
			return err
		}
	}
	if late {
		return cmp.Or(v.chooseAgain(accounts, due), v.run(ctx, lateVisit))
	}
	if len(rest) == 0 {
		return nil
	}
	began := rest[0].At
	rest = nil
	err := cmp.Or(v.chooseAgain(accounts, later), v.mayBare(ctx, accounts))
	if err == nil {
		err = v.run(ctx, hourVisit)
	}
	if err == nil {
		err = v.stillKept(ctx, accounts, later)
	}
	if !s.enough() {
		s.again(began)
	}
	return err
}

// roundsLast is the order of what is due: an answer is kept for a time, and the rounds of a series can wait.
func roundsLast(b profile.Begun) int {
	if b.Experiment == "A1" {
		return 1
	}
	return 0
}

// stillKept asks after an hour for the answers of what is due in a day.
func (v *liveVisit) stillKept(ctx context.Context, accounts []account, later []profile.Begun) error {
	for _, b := range later {
		if b.Experiment == "A4" && v.chooseBegun(accounts, b) {
			if err := v.revisit(ctx, scriptKept, b); err != nil {
				return err
			}
		}
	}
	return v.choose(accounts)
}

// enough reports whether the series needs no further visit for its rounds: it has as many as a verdict needs, or
// more of them would show nothing.
func (s *sender) enough() bool {
	n, t := 0, &Tally{}
	for i := range s.e.Rounds {
		if r := &s.e.Rounds[i]; r.Void == "" && (r.Script == scriptOrder || r.Script == scriptRun) {
			n++
			voteStored(r, t)
		}
	}
	r := s.q.before("A1")
	return n+r.N >= enoughRounds || t.inFront() || r.Verdict == profile.Mixed || r.Verdict == profile.Neither
}

// choose sets the account that the cancels name.
func (v *liveVisit) choose(accounts []account) error {
	v.account, v.locked = "", ""
	for _, a := range accounts {
		switch {
		case a.id == v.q.Tradeable && !a.trades():
			return v.end("account %s is %s: it is not tradeable", a.id, strings.ToLower(a.status))
		case a.id == v.q.Tradeable:
			v.account = a.id
			v.guard.accounts[a.id] = true
		case a.locked():
			v.locked = a.id
			v.guard.accounts[a.id] = true
		}
	}
	if v.q.Tradeable != "" && v.account == "" {
		return v.end("there is no account %s of this key", v.q.Tradeable)
	}
	return nil
}

// chooseAgain is choose, but where the first visit had to name an account of one's own it does so at once.
func (v *liveVisit) chooseAgain(accounts []account, begun []profile.Begun) error {
	if err := v.choose(accounts); err != nil || v.account != "" {
		return err
	}
	for _, b := range begun {
		if v.account == "" && !v.chooseBegun(accounts, b) {
			v.account = ""
		}
	}
	return nil
}

// chooseBegun sets the account that a first visit named.
func (v *liveVisit) chooseBegun(accounts []account, b profile.Begun) bool {
	v.account = ""
	if b.Account == "" {
		return true
	}
	for _, a := range accounts {
		if profile.Token("account", a.id) == b.Account && v.guard.accounts[a.id] {
			v.account = a.id
			return true
		}
	}
	return false
}
