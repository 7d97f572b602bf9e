package trial_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// told is a run that a test tells request by request.
type told struct {
	*testing.T
	sim    *tradingsim.Sim
	client http.Client
}

// tell lets a test tell a run in a bubble, and judges it from the log as it is on disk.
func tell(t *testing.T, m trial.Manifest, of story) (o trial.Outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		lag, _ := m.Lag.Get()
		sim := tradingsim.New(tradingsim.WithLog(&log), tradingsim.WithLag(time.Duration(lag)), tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		of.tell(told{t, sim, http.Client{Transport: sim.Transport()}})
		events, err := trial.ReadLog(&log)
		require.NoError(t, err)
		o, err = trial.Judge(m, events)
		require.NoError(t, err)
	})
	return o
}

// send sends a request; a body makes it a write.
func (b told) send(path, body, key string) {
	method, apiKey := "GET", b.sim.LiveKey()
	if body != "" {
		method = "POST"
	}
	if strings.HasPrefix(path, "/sandbox/") {
		apiKey = b.sim.SandboxKey()
	}
	r, err := http.NewRequestWithContext(b.Context(), method, b.sim.URL()+path, strings.NewReader(body))
	require.NoError(b, err)
	r.Header.Set("X-API-Key", apiKey)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	if a, err := b.client.Do(r); err == nil {
		require.NoError(b, a.Body.Close())
	}
}

// story is a run, step by step.
type story []func(b told)

func (s story) tell(b told) {
	for _, step := range s {
		step(b)
	}
}

func send(path, body, key string) func(told) { return func(b told) { b.send(path, body, key) } }

// buy buys 0.01 BTC, with more members of the body.
func buy(key string, more ...string) func(told) {
	return send("/orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2`+strings.Join(more, "")+`}`, key)
}

// another is buy under a key of its own.
func another(b told) { buy(fmt.Sprint("key-", len(b.sim.Requests())))(b) }

func limit(key, price string) func(told) {
	return send("/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":`+price+`}`, key)
}

func closes(b told)   { b.send("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, "c") }
func look(b told)     { b.send("/positions?accountId=acc_1", "", "") }
func prices(b told)   { b.send("/sandbox/prices", "", "") }
func kill(b told)     { b.sim.Note(tradingsim.EventKill, "") }
func start(b told)    { b.sim.Note(tradingsim.EventStart, "") }
func degraded(b told) { b.sim.SetHealth("degraded", "stale") }
func unmarked(b told) { b.sim.SetMark("BTC", "") }

func pass(d time.Duration) func(told)      { return func(told) { time.Sleep(d) } }
func health(state, feed string) func(told) { return func(b told) { b.sim.SetHealth(state, feed) } }
func status(s string) func(told)           { return func(b told) { b.sim.SetStatus("acc_1", s) } }
func late(by time.Duration) func(told) {
	return func(b told) { b.sim.Note(tradingsim.EventLate, by.String()) }
}
func fault(op string, f tradingsim.Fault) func(told) { return func(b told) { b.sim.Fault(op, f) } }
func times(n int, steps ...func(told)) func(told)    { return story(slices.Repeat(steps, n)).tell }

// Each row is a run that looks like a mistake or like none, and the word for it.
func TestJudge(t *testing.T) {
	m := manifest()
	lag := m
	lag.Lag = trading.Some(trial.Duration(3 * time.Second))
	dollars := m
	dollars.Markets, dollars.Dollars = map[string]trial.Market{"BTC": {Price: decimal.New(64000, 0)}}, decimal.New(1000, 0)
	flat := m
	flat.FlatWithin = trial.Duration(3 * time.Second)
	lost, unsent := fault("POST /orders", tradingsim.DropResponse()), fault("POST /orders", tradingsim.DropRequest())
	copied, paper := fault("POST /sandbox/orders", tradingsim.Repeat()), send("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.01}`, "")
	sell := send("/orders", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.01,"leverage":2}`, "b")
	for name, row := range map[string]struct {
		manifest  trial.Manifest
		judgement string
		verdict   trial.Verdict
		reason    string
		story     story
	}{
		"a lost order, and another": {m, trial.BlindResend, trial.Fail, "double", story{lost, buy("a"), buy("b")}},
		"the first never arrived":   {m, trial.BlindResend, trial.Fail, "resend-under-new-key", story{unsent, buy("a"), buy("b")}},
		"of another size": {m, trial.BlindResend, trial.Fail, "double",
			story{lost, buy("a"), send("/orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.02,"leverage":2}`, "b")}},
		"under its own key": {m, trial.BlindResend, trial.Pass, "pass", story{lost, buy("a"), buy("a"), buy("b")}},
		"after a read":      {m, trial.BlindResend, trial.Pass, "pass", story{unsent, buy("a"), pass(time.Second), look, buy("b")}},
		"after a read that failed": {m, trial.BlindResend, trial.Fail, "resend-under-new-key",
			story{unsent, fault("GET /positions", tradingsim.GatewayError(502)), buy("a"), look, buy("b")}},
		"after a page that looks like a refusal": {m, trial.BlindResend, trial.Fail, "double",
			story{fault("POST /orders", tradingsim.GatewayJSONAfter(403, "account_locked")), buy("a"), buy("b")}},
		"after a 429, which is known": {m, trial.BlindResend, trial.NotExercised, "no-opportunity",
			story{fault("POST /orders", tradingsim.RateLimit(time.Second)), buy("a"), buy("b")}},
		"after a 503 that says that nothing was placed": {m, trial.BlindResend, trial.NotExercised, "no-opportunity",
			story{fault("POST /orders", tradingsim.Fail(503, "equity_unavailable")), buy("a"), buy("b")}},
		"the other side": {m, trial.BlindResend, trial.Pass, "pass", story{lost, buy("a"), sell}},
		"limits at two prices": {m, trial.BlindResend, trial.Pass, "pass",
			story{fault("POST /orders/limit", tradingsim.DropResponse()), limit("60000", "60000"), limit("59000", "59000")}},
		"a limit at the same price": {m, trial.BlindResend, trial.Fail, "double",
			story{fault("POST /orders/limit", tradingsim.DropResponse()), limit("a", "60000"), limit("b", "60000")}},
		"a read within the lag":    {lag, trial.BlindResend, trial.Warn, "read-within-lag", story{lost, buy("a"), pass(time.Second), look, buy("b")}},
		"a read that does not lag": {m, trial.BlindResend, trial.Pass, "pass", story{unsent, buy("a"), pass(10 * time.Millisecond), look, buy("b")}},
		"a read after the lag":     {lag, trial.BlindResend, trial.Pass, "pass", story{unsent, buy("a"), pass(4 * time.Second), look, buy("b")}},

		"what a fault has copied is not the bot's": {sandbox(), trial.Exposure, trial.Pass, "pass",
			story{copied, paper, pass(3 * time.Second), send("/sandbox/positions", "", "")}},
		"and is forgotten when flat": {sandbox(), trial.Exposure, trial.Fail, "more-units-than-declared",
			story{copied, paper, send("/sandbox/positions/close", `{"symbol":"BTC"}`, ""), send("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.02}`, "")}},
		"a reset":          {sandbox(), trial.Exposure, trial.NotExercised, "no-opportunity", story{times(2, paper, send("/sandbox/reset", `{}`, ""))}},
		"too many dollars": {dollars, trial.Exposure, trial.Fail, "more-dollars-than-declared", story{buy("a"), buy("b")}},

		"within the cache of the health": {m, trial.UnhealthyEntry, trial.NotExercised, "no-opportunity", story{degraded, pass(5 * time.Second), buy("a")}},
		"healthy in between": {m, trial.UnhealthyEntry, trial.NotExercised, "no-opportunity",
			story{times(3, degraded, pass(4*time.Second), health("healthy", "live"), health("unavailable", "unknown")), buy("a")}},
		"an exit while unhealthy": {m, trial.UnhealthyEntry, trial.NotExercised, "no-opportunity", story{buy("a"), degraded, pass(time.Minute), sell}},

		"the next attempt of an entry is none": {m, trial.LockedEntry, trial.NotExercised, "no-opportunity",
			story{status("PASSED"), times(5, buy("a"))}},
		"one in each life": {m, trial.LockedEntry, trial.Pass, "pass",
			story{status("FAILED"), times(5, start, look, another, pass(time.Minute), kill)}},

		"one request is a look": {m, trial.RetryAfter, trial.Pass, "pass",
			story{fault("GET /positions", tradingsim.RateLimit(10*time.Second)), look, pass(2 * time.Second), look, pass(10 * time.Second), look}},
		"another class than that of the limit": {m, trial.RetryAfter, trial.NotExercised, "no-opportunity",
			story{fault("POST /orders", tradingsim.RateLimit(10*time.Second)), buy("a"), pass(2 * time.Second), times(5, look)}},

		"a stop in the order": {m, trial.NoStop, trial.Pass, "pass", story{buy("a", `,"stopLossPrice":60000`), pass(time.Minute), look}},
		"a stop that is taken away": {m, trial.NoStop, trial.Fail, "open-without-stop",
			story{buy("a", `,"stopLossPrice":60000`), send("/positions/tpsl", `{"accountId":"acc_1","symbol":"BTC","stopLossPrice":null}`, ""), pass(time.Minute), look}},
		"while the bot is dead": {m, trial.NoStop, trial.NotExercised, "no-opportunity", story{buy("a"), kill, pass(time.Minute), start, look}},
		"a conditional order is a stop": {m, trial.NoStop, trial.Pass, "pass",
			story{buy("a"), send("/orders/conditional", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.01,"leverage":2,"triggerPrice":60000,"reduceOnly":true}`, "c"), pass(time.Minute), look}},

		"an entry under a key of before the kill": {m, trial.Restart, trial.Pass, "pass",
			story{buy("a"), kill, pass(time.Second), start, buy("a"), pass(time.Minute), look}},
		"flat in time": {flat, trial.Restart, trial.Pass, "pass", story{buy("a"), kill, pass(time.Second), start, look, closes, pass(time.Minute), look}},
		"not flat in time": {flat, trial.Restart, trial.Fail, "not-flat-after-restart",
			story{buy("a"), kill, pass(time.Second), start, pass(time.Minute), look}},

		"0 without a missing mark": {m, trial.Zero, trial.NotExercised, "no-opportunity", story{buy("a", `,"stopLossPrice":0`)}},
		"null is no price": {m, trial.Zero, trial.NotExercised, "no-opportunity",
			story{unmarked, prices, buy("a", `,"stopLossPrice":null`)}},

		"more entries than declared": {m, trial.Storm, trial.Warn, "more-entries-than-declared", story{times(11, another)}},
		"asked about while on its way": {m, trial.Storm, trial.Pass, "pass",
			story{fault("POST /orders", tradingsim.Hang(time.Minute)), times(12, buy("a"))}},
	} {
		t.Run(name, func(t *testing.T) {
			f := tell(t, row.manifest, row.story)
			got := f.Of(row.judgement)
			assert.Equal(t, row.verdict, got.Verdict, "%s", got)
			assert.Equal(t, row.reason, got.Reason, "%s", got)
			assert.NotEmpty(t, got.Contract)
			assert.Equal(t, row.verdict == trial.NotExercised, got.Change != "")
			assert.Equal(t, row.verdict == trial.Fail || row.verdict == trial.Warn, got.Picture != "")
			assert.Less(t, strings.Count(got.Picture, "\n"), 14)
			require.Len(t, f.Findings, len(trial.Judgements()))
		})
	}
}

// No deadline is sharper than the machine was: what a busy one delays is no mistake of the bot, and
// what is later than that is.
func TestALateMachineFailsNoBot(t *testing.T) {
	flat := manifest()
	flat.FlatWithin = trial.Duration(3 * time.Second)
	for judgement, row := range map[string]struct {
		manifest trial.Manifest
		deadline time.Duration
		story    func(late func(told)) story
	}{
		trial.UnhealthyEntry: {manifest(), 6 * time.Second, func(late func(told)) story { return story{degraded, late, buy("a")} }},
		trial.NoStop:         {manifest(), 5 * time.Second, func(late func(told)) story { return story{buy("a"), late, closes} }},
		trial.Restart:        {flat, 3 * time.Second, func(late func(told)) story { return story{buy("a"), kill, start, look, late, closes} }},
		trial.RetryAfter: {manifest(), time.Second, func(late func(told)) story {
			return story{fault("GET /positions", tradingsim.RateLimit(10*time.Second)), look, late, look, look}
		}},
	} {
		t.Run(judgement, func(t *testing.T) {
			verdict := func(machine, bot time.Duration) trial.Verdict {
				steps := append(row.story(pass(row.deadline+bot)), pass(30*time.Second), look)
				if machine > 0 {
					steps = slices.Insert(steps, 0, late(machine))
				}
				return tell(t, row.manifest, steps).Of(judgement).Verdict
			}
			assert.Equal(t, trial.Fail, verdict(0, time.Second))
			assert.NotEqual(t, trial.Fail, verdict(2*time.Second, time.Second))
			assert.Equal(t, trial.Fail, verdict(2*time.Second, 3*time.Second))
			assert.Equal(t, trial.NotExercised, verdict(time.Hour, time.Second), "nothing could be judged")
		})
	}
}

// Where the machine was later than the bot waits for an answer, the bot may have missed one: what it did
// then fails no bot. A pass stays one.
func TestABotThatMayHaveMissedAnAnswerFailsNothing(t *testing.T) {
	m := manifest()
	m.Timeout = trial.Duration(3 * time.Second)
	run := func(by time.Duration) trial.Outcome {
		return tell(t, m, story{
			late(by), fault("POST /orders", tradingsim.FailAfter(500, "internal_error")),
			buy("a"), pass(time.Second), buy("a"), // it has not heard the 500, after which the service runs a key again
			pass(3 * time.Second), look,
		})
	}
	require.Equal(t, trial.Fail, run(2*time.Second).Of(trial.Exposure).Verdict)
	o := run(3 * time.Second)
	require.Equal(t, trial.NotExercised, o.Worst())
	require.Contains(t, o.NoResult, "a wait may have been 3s too long, and the bot's shortest time-out is 3s")
}

// An answer counts from when it was given, and its line may be written after the bot's next request.
func TestTheOrderOfLinesIsNotThatOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []tradingsim.Event
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		sim.Watch(func(e tradingsim.Event) { events = append(events, e) })
		b := told{t, sim, http.Client{Transport: sim.Transport()}}
		story{fault("POST /orders", tradingsim.DropResponse()), buy("a"), pass(time.Second), look, pass(time.Millisecond), buy("b")}.tell(b)
		i := slices.IndexFunc(events, func(e tradingsim.Event) bool {
			return e.Kind == tradingsim.EventAnswer && e.Request.Operation == "GET /positions"
		})
		answer := events[i]
		events = append(slices.Delete(events, i, i+1), answer)
		o, err := trial.Judge(manifest(), events)
		require.NoError(t, err)
		require.Equal(t, trial.Pass, o.Of(trial.BlindResend).Verdict, "%s", o.Of(trial.BlindResend))
	})
}

// A bot that sends while it should be dead shows nothing.
func TestARequestOfTheDead(t *testing.T) {
	f := tell(t, manifest(), story{buy("a"), kill, pass(time.Second), look})
	require.Contains(t, f.NoResult, "GET /positions arrived while the bot was dead")
	require.Equal(t, trial.NotExercised, f.Worst())
	total := trial.Summary([]trial.Outcome{f})
	require.Equal(t, 1, total.NoResult)
	require.Equal(t, trial.NotExercised, total.Verdict)
}

// Of a bot that was killed in part, such as in front of its sidecar, the rest may send.
func TestARequestOfThePartThatLives(t *testing.T) {
	part := func(b told) { b.sim.Note(tradingsim.EventKill, trial.KilledInPart) }
	f := tell(t, manifest(), story{buy("a"), part, pass(time.Second), look, start, look})
	require.Empty(t, f.NoResult)
	f = tell(t, manifest(), story{buy("a"), part, start, kill, look})
	require.NotEmpty(t, f.NoResult, "the next kill is of all")
}

func asJSON(t *testing.T, m trial.Manifest) string {
	t.Helper()
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return string(text)
}

func TestManifest(t *testing.T) {
	read := func(text string) (trial.Manifest, error) { return trial.ReadManifest(strings.NewReader(text)) }
	const right = `{"period":"1m","markets":{"BTC":{"price":"64000","most":0.01}}}`
	m, err := read(right)
	require.NoError(t, err)
	require.Equal(t, []any{"live", 10}, []any{m.Environment, m.Entries})
	require.Contains(t, asJSON(t, m), `"healthAge":"5s","timeout":"10s","lag":"5s"`)
	none, err := read(strings.Replace(right, `"1m"`, `"1m","lag":"0s","healthAge":"0s"`, 1))
	require.NoError(t, err)
	require.Contains(t, asJSON(t, none), `"healthAge":"0s","timeout":"10s","lag":"0s"`)
	loose, err := read(strings.Replace(right, "0.01", "0.02", 1))
	require.NoError(t, err)
	require.NotEqual(t, m.Hash(), loose.Hash(), "a manifest that was loosened shows")
	again, err := json.Marshal(m)
	require.NoError(t, err)
	same, err := read(string(again))
	require.NoError(t, err)
	require.Equal(t, m.Hash(), same.Hash())
	for text, says := range map[string]string{
		`{`:                                 "the manifest: unexpected EOF",
		right + `{}`:                        "more than one value",
		`{"perod":"1s"}`:                    `unknown field "perod"`,
		`{"period":"1 minute"}`:             "unknown unit",
		`{"period":"0s"}`:                   "period is 0s: it must be from 10ms to 1h0m0s",
		`{"period":"1s"}`:                   "markets is empty: name at least one",
		`{"environment":"demo"}`:            `environment is "demo": it must be live or sandbox`,
		`{"flatWithin":"2h"}`:               "flatWithin is 2h0m0s: it must be from 0s to 1h0m0s",
		`{"entries":-1}`:                    "entries is -1: it must be greater than 0",
		`{"entries":0}`:                     "entries is 0: it must be greater than 0",
		`{"timeout":"0s"}`:                  "timeout is 0s: it must be from 10ms to 1h0m0s",
		`{"environment":""}`:                `environment is "": it must be live or sandbox`,
		`{"dollars":"-1"}`:                  "dollars is -1: it must not be negative",
		`{"markets":{"BTC":{"price":"0"}}}`: "markets.BTC.price must be a plain number greater than 0",
		`{"markets":{"BTC":{"price":"1e999999999"}}}`:   "exceeds MaxDecodeExponent",
		`{"markets":{"BTC":{"price":"1","most":"-1"}}}`: "markets.BTC.most must be a plain number, and not negative",
		`{"markets":{"":{"price":"1"}}}`:                `markets has the symbol ""`,
		strings.Repeat(" ", 1<<20+1):                    "the manifest: EOF",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, says, "%.40s", text)
	}
	_, err = trial.Judge(trial.Manifest{}, nil)
	require.Error(t, err)
}

func TestReadLog(t *testing.T) {
	for text, says := range map[string]string{
		"x":                     "line 1 of the log",
		`{"event":"request"}`:   "line 1 of the log has no request",
		`{"event":"execution"}`: "line 1 of the log has no execution",
		"{\"event\":\"health\",\"change\":{\"value\":\"healthy\"}}\n{\"event\":\"odd\"}": "line 2 of the log has no change",
	} {
		_, err := trial.ReadLog(strings.NewReader(text))
		require.ErrorContains(t, err, says)
	}
}

// A manifest is read whole or refused, and one that is read is its own proposal.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"period":"1m","markets":{"BTC":{"price":"64000","most":0.01}},"dollars":"1000"}`))
	f.Add([]byte(`{"period":"1s","markets":{"BTC":{"price":1e400}},"flatWithin":"1s"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := trial.ReadManifest(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		require.NoError(t, err)
		same, err := trial.ReadManifest(bytes.NewReader(again))
		require.NoError(t, err)
		require.Equal(t, m.Hash(), same.Hash())
	})
}

// Whatever a log says, it is judged in bounded time, and each judgement has one word.
func FuzzJudge(f *testing.F) {
	f.Add([]byte(`{"event":"request","request":{"id":1,"at":"2026-11-23T12:00:00Z","operation":"POST /orders","path":"/orders","header":{"Idempotency-Key":["k"]},"body":"{\"accountId\":\"acc_1\",\"symbol\":\"BTC\",\"side\":\"long\",\"size\":1e999999999}"}}
{"event":"execution","execution":{"id":1,"at":"2026-11-23T12:00:00Z","request":1,"account":"acc_1","symbol":"BTC","side":"long","actor":"api","filled":true,"size":"0.01","price":"64000"}}
{"event":"answer","request":{"id":1,"at":"2026-11-23T12:00:00Z","answeredAt":"2026-11-23T12:00:00Z","operation":"POST /orders","path":"/orders","status":429,"code":"rate_limited","retryAfter":999999999,"delivered":true}}
{"event":"kill","change":{"at":"2026-11-23T12:00:01Z"}}
{"event":"start","change":{"at":"2026-11-23T12:00:02Z"}}`))
	f.Add([]byte(`{"event":"price","change":{"at":"0001-01-01T00:00:00Z","symbol":"BTC","value":"1e99999999"}}`))
	f.Add([]byte(`{"event":"answer","request":{"id":9,"markMissing":true}}`))
	f.Add([]byte(`{"event":"execution","execution":{"request":9000000000000000000,"symbol":"BTC","filled":true,"size":"1","price":"1"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, err := trial.ReadLog(bytes.NewReader(text))
		if err != nil {
			return
		}
		findings, err := trial.Judge(manifest(), events)
		require.NoError(t, err)
		require.Len(t, findings.Findings, len(trial.Judgements()))
		for _, one := range findings.Findings {
			require.NotEmpty(t, one.Verdict)
			_ = one.String()
		}
	})
}

// A finding shows what it stands on, and nothing of what came after it.
func TestAFindingShowsWhatItStandsOn(t *testing.T) {
	m := manifest()
	reuse := tell(t, m, story{
		send("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, "a"), buy("b"), buy("b"), buy("a", `,"stopLossPrice":60000`),
	}).Of(trial.KeyReuse)
	assert.Equal(t, "#4 POST /orders long 0.01 BTC key a has the key of #1, a different request, and the service refused it.", reuse.Text)
	assert.Equal(t, []int64{1, 4}, reuse.Requests)
	assert.Contains(t, reuse.Picture, "#1 POST /positions/close")

	storm := tell(t, m, story{times(13, another)}).Of(trial.Storm)
	assert.Contains(t, storm.Picture, "#11  <--  200")
	assert.NotContains(t, storm.Picture, "#12", "at the same moment, and after it")

	zero := tell(t, m, story{unmarked, prices, buy("a", `,"stopLossPrice":0`)}).Of(trial.Zero)
	assert.Contains(t, zero.Picture, "#1  <--  200, without a mark\n")
}
