package record

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestAuditOfAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		r.sim.Fault("POST /orders", tradingsim.DelayResponse(250*time.Millisecond))
		_, err := r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithTag("breakout"))
		require.NoError(t, err)

		events := r.events()
		require.Equal(t, "begun sent attempt done", kinds(events))
		begun, sent, attempt, done := events[0], events[1], events[2], events[3]
		assert.NotEmpty(t, begun.Call)
		for _, e := range events {
			assert.Equal(t, begun.Call, e.Call)
			assert.Equal(t, trading.OpOrder, e.Operation)
			assert.Equal(t, trading.AccountID("acc_1"), e.Account)
			assert.Equal(t, "BTC", e.Symbol)
			assert.False(t, e.At.IsZero())
		}
		assert.Equal(t, trading.EnvLive, begun.Environment)
		assert.True(t, begun.Entry)
		assert.Equal(t, "breakout", begun.Tag)
		assert.Equal(t, "entry", begun.Priority)
		assert.Contains(t, string(begun.Request), `"size":0.01`)

		assert.Equal(t, 1, sent.Attempt)
		assert.NotEmpty(t, sent.Intent, "before the first byte")

		request := r.sim.Requests()[len(r.sim.Requests())-1]
		assert.Equal(t, 1, attempt.Attempt)
		assert.Equal(t, request.Header.Get("Idempotency-Key"), string(attempt.Key))
		assert.Equal(t, sent.Intent, attempt.Intent)
		assert.Equal(t, 200, attempt.Status)
		assert.Equal(t, "applied", attempt.Outcome)
		assert.True(t, attempt.Written)
		assert.Equal(t, 250*time.Millisecond, attempt.Took)
		assert.Equal(t, string(request.Body), string(attempt.Request))
		assert.Contains(t, string(attempt.Response), `"success":true`)

		assert.Equal(t, "applied", done.Outcome)
		assert.Equal(t, 1, done.Attempts)
		assert.GreaterOrEqual(t, done.Took, 250*time.Millisecond)
		assert.Empty(t, done.Err)
	})
}

func TestAuditOfEachKindOfWrite(t *testing.T) {
	reduceOnly := func(o *trading.Order) { o.ReduceOnly = true }
	for name, row := range map[string]struct {
		fault []tradingsim.Fault // of POST /orders
		do    func(r *rig) error
		fails bool
		kinds string
		check func(t *testing.T, events []Event)
	}{
		"a read is not there": {
			do:    func(r *rig) error { _, err := r.account().Positions(r.t.Context()); return err },
			kinds: "",
		},
		"refused before it is sent": {
			do:    func(r *rig) error { _, err := r.account().PlaceOrder(r.t.Context(), buy("-1")); return err },
			fails: true,
			kinds: "begun done",
			check: func(t *testing.T, events []Event) {
				assert.Equal(t, "not applied", events[1].Outcome)
				assert.Zero(t, events[1].Attempts)
				assert.Equal(t, trading.CodeBadSize, events[1].Code)
				assert.NotEmpty(t, events[1].Err)
			},
		},
		"refused by the service": {
			do:    func(r *rig) error { _, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.All); return err },
			fails: true,
			kinds: "begun sent attempt done",
			check: func(t *testing.T, events []Event) {
				assert.False(t, events[0].Entry)
				assert.Equal(t, "close", events[0].Priority)
				assert.NotEmpty(t, events[2].Code)
				assert.NotZero(t, events[2].Status)
				assert.Equal(t, "not applied", events[2].Outcome)
			},
		},
		"a lost answer, and the resend that finds it": {
			fault: []tradingsim.Fault{tradingsim.DropResponse()},
			do:    func(r *rig) error { _, err := r.account().PlaceOrder(r.t.Context(), buy("0.01")); return err },
			kinds: "begun sent attempt wait sent attempt done",
			check: func(t *testing.T, events []Event) {
				lost, wait, found := events[2], events[3], events[5]
				assert.Equal(t, "unknown", lost.Outcome)
				assert.Zero(t, lost.Status)
				assert.NotEmpty(t, lost.Err)
				assert.True(t, lost.Written)
				assert.Equal(t, trading.WaitBackoff, wait.Reason)
				assert.Positive(t, wait.For)
				assert.Equal(t, lost.Key, found.Key)
				assert.True(t, found.Replayed)
				assert.Equal(t, 2, found.Attempt)
				assert.Equal(t, "applied", found.Outcome)
				assert.Equal(t, 2, events[6].Attempts)
			},
		},
		"an answer of something in front": {
			fault: []tradingsim.Fault{tradingsim.GatewayError(502)},
			do:    func(r *rig) error { _, err := r.account().PlaceOrder(r.t.Context(), buy("0.01")); return err },
			kinds: "begun sent attempt wait sent attempt done",
			check: func(t *testing.T, events []Event) {
				assert.Equal(t, 502, events[2].Status)
				assert.Contains(t, string(events[2].Response), "<html", "as a text")
				assert.Contains(t, []string{"recovery", "entry"}, events[4].Priority)
			},
		},
		"a wait for a rate limit": {
			fault: []tradingsim.Fault{tradingsim.RateLimit(7 * time.Second)},
			do:    func(r *rig) error { _, err := r.account().PlaceOrder(r.t.Context(), buy("0.01")); return err },
			kinds: "begun sent attempt wait sent attempt done",
			check: func(t *testing.T, events []Event) {
				assert.Equal(t, 429, events[2].Status)
				assert.Equal(t, trading.WaitRateLimit, events[3].Reason)
				assert.NotEmpty(t, events[3].Bucket)
				assert.InDelta(t, 7, events[3].For.Seconds(), 1)
			},
		},
		"held back by a guard": {
			do: func(r *rig) error {
				r.Halt("lunch")
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01"))
				return err
			},
			fails: true,
			kinds: "begun done",
			check: func(t *testing.T, events []Event) {
				assert.Contains(t, events[1].Err, "lunch")
				assert.Empty(t, events[1].Intent)
			},
		},
		"an exit that is an order": {
			do: func(r *rig) error {
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.01", reduceOnly))
				return err
			},
			fails: true,
			kinds: "begun sent attempt done",
			check: func(t *testing.T, events []Event) { assert.False(t, events[0].Entry) },
		},
		"on paper": {
			do:    func(r *rig) error { _, err := r.Sandbox.PlaceOrder(r.t.Context(), buy("0.01")); return err },
			kinds: "begun sent attempt done",
			check: func(t *testing.T, events []Event) {
				assert.Equal(t, trading.EnvSandbox, events[0].Environment)
				assert.Empty(t, events[2].Key)
				assert.NotEmpty(t, events[2].Intent)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{})
				r.sim.Fault("POST /orders", row.fault...)
				require.Equal(t, row.fails, row.do(r) != nil)
				events := r.events()
				require.Equal(t, row.kinds, kinds(events))
				for i := range events {
					assert.Equal(t, events[0].Call, events[i].Call)
				}
				if row.check != nil {
					row.check(t, events)
				}
			})
		})
	}
}

// A caller who leaves is answered at once. What the client finds out behind its back
// are calls of their own, joined to the write by its key, and the end by its intent.
func TestAuditOfAWriteLeftByItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		r.sim.Fault("POST /orders", tradingsim.DelayResponse(2*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.account().PlaceOrder(ctx, buy("0.01"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))

		time.Sleep(time.Minute)
		events := r.events()
		of := func(own bool) []Event {
			return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return (e.Call == events[0].Call) != own })
		}
		begun := of(true)
		require.Equal(t, "begun sent attempt done", kinds(begun))
		assert.Equal(t, "unknown", begun[3].Outcome)
		resolved := only(events, KindResolved)
		require.Len(t, resolved, 1)
		assert.Empty(t, resolved[0].Call)
		assert.Equal(t, "applied", resolved[0].Outcome)
		assert.Equal(t, trading.EvidenceReplay.String(), resolved[0].Evidence)
		assert.Equal(t, begun[1].Intent, resolved[0].Intent)
		assert.Equal(t, begun[2].Key, resolved[0].Key)
		assert.Contains(t, string(resolved[0].Request), `"size":0.01`)
		assert.Contains(t, string(resolved[0].Response), `"success":true`)
		assert.True(t, resolved[0].Since.Equal(begun[0].At), "when it was begun")
		asked := only(of(false), KindAttempt)
		require.NotEmpty(t, asked)
		last := asked[len(asked)-1]
		assert.Equal(t, begun[2].Key, last.Key)
		assert.True(t, last.Replayed)
		assert.Equal(t, "applied", last.Outcome)
	})
}

func TestBodiesAreBounded(t *testing.T) {
	r := newRig(t, Options{MaxBody: 40})
	_, err := r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithTag(strings.Repeat("t", 5000)))
	require.NoError(t, err)
	events := r.events()
	assert.LessOrEqual(t, len(events[0].Tag), maxName+len("…"))
	attempt := events[2]
	request := r.sim.Requests()[len(r.sim.Requests())-1]
	assert.Equal(t, string(request.Body[:40]), string(attempt.Request))
	assert.Equal(t, len(request.Body), attempt.RequestSize)
	assert.Len(t, attempt.Response, 40)
	assert.Greater(t, attempt.ResponseSize, 40)
}

func TestCallsHaveNamesOfTheirOwnInEveryRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	seen := make(map[string]bool)
	for range 3 {
		a, err := OpenAudit(path, Options{})
		require.NoError(t, err)
		tellWrite(a.Hooks(), "BTC")
		tellWrite(a.Hooks(), "BTC")
		require.NoError(t, a.Close())
	}
	for _, e := range only(eventsOf(t, path), KindBegun) {
		assert.False(t, seen[e.Call], "%s is two calls", e.Call)
		seen[e.Call] = true
	}
	assert.Len(t, seen, 6)
}

func TestTwoAuditsOfOneClient(t *testing.T) {
	second := filepath.Join(t.TempDir(), "second.jsonl")
	b, err := OpenAudit(second, Options{})
	require.NoError(t, err)
	defer b.Close()
	tellWrite(b.Hooks(), "ETH") // so that the names differ
	r := newRig(t, Options{}, trading.WithHooks(b.Hooks()))
	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.NoError(t, err)
	mine, theirs := r.events(), eventsOf(t, second)
	assert.Equal(t, "begun sent attempt done", kinds(mine))
	theirs = theirs[len(theirs)-4:]
	assert.Equal(t, "begun sent attempt done", kinds(theirs))
	assert.NotEqual(t, mine[0].Call, theirs[0].Call)
	assert.Equal(t, theirs[0].Call, theirs[3].Call)
}

func TestFilesAreTheOwners(t *testing.T) {
	path, _ := written(t, 2000)
	names, err := Files(path)
	require.NoError(t, err)
	require.Greater(t, len(names), 1)
	for _, name := range append(names, path+".lock") {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{})
	require.NoError(t, err)
	_, err = OpenAudit(path, Options{})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, a.Close())
	a, err = OpenAudit(path, Options{})
	require.NoError(t, err)
	require.NoError(t, a.Close())
}

func TestAClosedAudit(t *testing.T) {
	r := newRig(t, Options{})
	require.NoError(t, r.audit.Close())
	require.NoError(t, r.audit.Close(), "again")
	require.ErrorIs(t, r.audit.Err(), ErrClosed)
	_, err := r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.ErrorIs(t, err, trading.ErrGuard)
	require.ErrorIs(t, err, ErrClosed)
	assert.Empty(t, r.sim.Ledger(), "nothing is placed that is not recorded")
	assert.Empty(t, r.events())
	report, err := VerifyFile(r.path)
	require.NoError(t, err)
	assert.True(t, report.Closed)
}

func TestOptionsAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, o := range []Options{{MaxFile: -1}, {MaxBody: -1}, {MaxBody: 33 << 10}, {Sync: 7}} {
		_, err := OpenAudit(path, o)
		require.Error(t, err, "%+v", o)
	}
	_, err := OpenAudit(filepath.Join(path, "missing", "audit"), Options{})
	require.Error(t, err)
	require.NoFileExists(t, path)
}
