package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contract"
)

// healthSeen is one answer of GET /health.
type healthSeen struct {
	asOf time.Time
	date time.Time // when the service answered; zero where it did not say
}

// service asks for everything that is of no account, with a health read between the others.
func (l *look) service(ctx context.Context) {
	l.readHealth(ctx)
	l.me(ctx, trading.EnvSandbox, l.o.SandboxKey, sandboxPrefix)
	l.me(ctx, trading.EnvLive, l.o.LiveKey, livePrefix)
	l.holder()
	l.readHealth(ctx)
	l.description(ctx)
	l.markets(ctx)
	l.readHealth(ctx)
	l.judgeHealth()
}

// readHealth asks for the assessment.
func (l *look) readHealth(ctx context.Context) {
	if !l.turn(ctx) {
		return
	}
	var meta trading.Meta
	h, err := l.client.Health(ctx, trading.ResponseInto(&meta))
	if err != nil {
		if l.health == nil && len(l.healthAt) == 0 {
			l.healthAt = append(l.healthAt, healthSeen{})
			l.r.of("service").fail("health", l.toDo("", err), "it cannot be read: %s", oneLine(err))
		}
		return
	}
	l.health = h
	seen := healthSeen{asOf: h.AsOf}
	if date, ok := dateOf(meta); ok {
		seen.date = date
	}
	l.healthAt = append(l.healthAt, seen)
}

// judgeHealth looks at the last assessment, and at the age of all.
func (l *look) judgeHealth() {
	s := l.r.of("service")
	if l.health == nil {
		return
	}
	age, ahead, known := l.healthAge()
	const oldest = 5 * time.Second
	switch h := l.health; {
	case !h.Safe() && !h.Old():
		s.fail("health", "Wait: entries are refused, exits pass.", "the service is %s with a feed that is %s", h.Status, h.Feed)
	case ahead > mostClock:
		s.warn("health", "Ask the service: no client can see there that a health is old.", "healthy, by an assessment of a time %s after its answer: its age is not known", short(ahead))
	case known && age > oldest:
		s.fail("health", "The client takes no entry on it. Ask the service.", "healthy, but by an assessment that is %s old", age)
	case known:
		s.ok("health", "healthy, by an assessment that is at least %s old", age)
	default:
		s.ok("health", "healthy; its age is not known without a Date")
	}
	l.judgeAsOf(s)
}

// healthAge is how old the oldest assessment was when it was answered, at least: a Date has
// whole seconds, rounded down. ahead is how far one was of a time after its answer, at least.
func (l *look) healthAge() (age, ahead time.Duration, known bool) {
	for _, seen := range l.healthAt {
		if seen.date.IsZero() || seen.asOf.IsZero() {
			continue
		}
		known = true
		age = max(age, seen.date.Sub(seen.asOf))
		ahead = max(ahead, seen.asOf.Sub(seen.date.Add(time.Second)))
	}
	l.r.Measured.HealthAge = age
	return age, ahead, known
}

// judgeAsOf looks at whether asOf is a time of today, and known to a millisecond.
func (l *look) judgeAsOf(s subject) {
	const days = 48 * time.Hour
	asOf := l.health.AsOf
	switch off := time.Since(asOf).Abs(); {
	case off > days:
		s.fail("as-of", "The client refuses entries on it. Ask the service.", "asOf is %s", asOf.UTC().Format(time.RFC3339))
	case asOf.UnixMilli()%1000 == 0:
		s.warn("as-of", "Look again: one time in a thousand that is chance.", "asOf is a whole second: the age of health is known to a second only")
	default:
		s.ok("as-of", "%s, to a millisecond", asOf.UTC().Format("15:04:05.000"))
	}
}

// me asks whose a key is.
func (l *look) me(ctx context.Context, env trading.Environment, key Setting, prefix string) {
	if !sendable(key.Value, prefix) || !l.turn(ctx) {
		return
	}
	check := string(env) + "-access"
	s := l.r.of("service")
	id, err := l.client.Me(ctx, env)
	switch {
	case err != nil:
		s.fail(check, l.toDo(env, err), "GET /me: %s", oneLine(err))
	case id.Environment != env:
		s.fail(check, "Give each environment its own key.", "the service says that the key of %s is of %q", env, id.Environment)
	default:
		l.holders[env] = id.UserID
		s.ok(check, "key %s of user %s", id.KeyID, id.UserID)
	}
}

// holder compares the owners of both keys.
func (l *look) holder() {
	s := l.r.of("configuration")
	live, sandbox := l.holders[trading.EnvLive], l.holders[trading.EnvSandbox]
	switch {
	case live == "" || sandbox == "":
		s.skip("holder", "there are not two keys that work")
	case live != sandbox:
		s.fail("holder", "Take both keys from one account.", "the live key is of user %s, the sandbox key of user %s", live, sandbox)
	default:
		s.ok("holder", "both keys are of user %s", live)
	}
}

// description compares what the service serves with what this version was built from.
func (l *look) description(ctx context.Context) {
	if !l.turn(ctx) {
		return
	}
	s := l.r.of("service")
	served, err := l.client.OpenAPI(ctx)
	if err != nil {
		s.warn("description", l.toDo("", err), "it cannot be read: %s", oneLine(err))
		return
	}
	changes, err := contract.Compare(served)
	var breaking, others []string
	for _, c := range changes {
		if c.Breaking {
			breaking = append(breaking, c.String())
		} else {
			others = append(others, c.String())
		}
	}
	switch {
	case err != nil:
		s.warn("description", "trading contract shows more.", "it cannot be compared: %v", err)
	case len(breaking) > 0:
		s.fail("description", "trading contract lists them. Take a newer version of this module.", "%d changes can break a bot, such as: %s", len(breaking), breaking[0])
	case len(others) > 0:
		s.warn("description", "trading contract lists them.", "%d changes, none breaking, such as: %s", len(others), others[0])
	default:
		s.ok("description", "as this version was built from")
	}
}

// markets reads the markets, with a sandbox key.
func (l *look) markets(ctx context.Context) {
	s := l.r.of("service")
	switch {
	case !sendable(l.o.SandboxKey.Value, sandboxPrefix):
		s.skip("markets", "there is no sandbox key: a live key has no markets and no prices")
		return
	case l.refused[trading.EnvSandbox]:
		s.skip("markets", "the sandbox key was refused")
		return
	case !l.turn(ctx):
		return
	}
	markets, err := l.client.Sandbox.Markets(ctx)
	if err != nil {
		s.fail("markets", l.toDo(trading.EnvSandbox, err), "they cannot be read: %s", oneLine(err))
		return
	}
	var unpriced []string
	for _, m := range markets {
		if _, ok := m.Mark.Price(); !ok {
			unpriced = append(unpriced, m.Symbol)
		}
	}
	switch {
	case len(markets) == 0:
		s.fail("markets", "Ask the service.", "there are none")
	case len(unpriced) > 0:
		s.warn("markets", "A bot must not take a missing price for zero.", "%d markets, without a price now: %s", len(markets), strings.Join(unpriced, ", "))
	default:
		s.ok("markets", "%d, all priced", len(markets))
	}
}

// answerTime judges how long the answers took beside the timeout of an attempt.
func (l *look) answerTime() {
	s := l.r.of("service")
	var took []time.Duration
	lost := 0
	for _, a := range l.meter.answers() {
		if a.status == 0 {
			lost++
			continue
		}
		took = append(took, a.ended.Sub(a.sent))
	}
	const enough = 5
	limit := l.o.AttemptTimeout
	if len(took) > 0 {
		slices.Sort(took)
		l.r.Measured.Answers, l.r.Measured.AnswerTime, l.r.Measured.SlowestAnswer = len(took), took[len(took)/2], took[len(took)-1]
	}
	m := l.r.Measured
	text := fmt.Sprintf("median %s, slowest %s of %d answers; an attempt times out after %s", short(m.AnswerTime), short(m.SlowestAnswer), m.Answers, limit)
	switch {
	case len(took) == 0 && lost > 0:
		s.fail("answer-time", "Mend the network.", "none of %d requests got an answer in time; an attempt times out after %s", lost, limit)
	case lost > 0, m.SlowestAnswer > limit:
		s.fail("answer-time", "Raise WithAttemptTimeout, or mend the network.", "%d of %d requests got no answer in time; %s", lost, lost+len(took), text)
	case len(took) < enough:
		s.skip("answer-time", "fewer than %d answers", enough)
	case m.SlowestAnswer > limit/2:
		s.warn("answer-time", "Raise WithAttemptTimeout, or run nearer to the service.", "%s", text)
	default:
		s.ok("answer-time", "%s", text)
	}
}

// short rounds a duration for a person.
func short(d time.Duration) time.Duration {
	switch {
	case d.Abs() >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d.Abs() >= time.Millisecond:
		return d.Round(100 * time.Microsecond)
	default:
		return d.Round(time.Microsecond)
	}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
