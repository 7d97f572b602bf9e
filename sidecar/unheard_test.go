package sidecar

import (
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// An equal order without a key repeats the one whose answer was not heard.
func TestARepeatOfWhatWasNotHeard(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		first := r.by(new(deaf), r.live, "POST /orders", buy)
		require.Equal(r.t, "applied", first.outcome)
		time.Sleep(30 * time.Second)
		again := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, first.body, again.body)
		assert.Equal(r.t, first.write, again.write)
		assert.Equal(r.t, "applied", again.outcome)
		assert.Equal(r.t, "true", again.header.Get("Idempotent-Replayed"))
		assert.Len(r.t, r.sim.Ledger(), 1)
		// That was heard, so the next one is new.
		assert.NotEqual(r.t, first.write, r.do(r.live, "POST /orders", buy).write)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A refusal is the answer to no other order: the price may have come back.
func TestARefusalIsNotRepeated(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /orders", tradingsim.Fail(400, "ASSET_NOTIONAL_CAP"))
		first := r.by(new(deaf), r.live, "POST /orders", buy)
		require.Equal(r.t, "not-applied", first.outcome)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
	})
}

// What was not heard holds its market until the bot has read its account.
func TestWhatWasNotHeardHoldsItsMarket(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		require.Equal(r.t, 200, r.by(new(deaf), r.live, "POST /orders", buy, "Idempotency-Key", "one").status)
		held := func(body string, header ...string) {
			r.t.Helper()
			a := r.do(r.live, "POST /orders", body, header...)
			assert.Equal(r.t, []any{409, "idempotency_result_unknown", "not-applied", "1"}, []any{a.status, a.code, a.outcome, a.header.Get(headerOwn)})
		}
		held(buyMore)
		held(buy, "Idempotency-Key", "two")
		read := func(p peer) {
			r.t.Helper()
			require.Equal(r.t, 200, r.by(p, r.live, "GET /positions?accountId=acc_1", "").status)
		}
		read(present{})
		held(buyMore) // reads lag
		time.Sleep(5 * time.Second)
		late := new(deaf)
		read(late)
		held(buyMore) // that was not heard either
		elsewhere := r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"ETH","side":"long","size":1,"leverage":2}`)
		assert.Equal(r.t, 200, elsewhere.status, "another market")
		assert.Equal(r.t, 200, r.do(r.live, "POST /positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`).status, "an exit")
		late.hears.Store(true)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
		assert.Len(r.t, r.sim.Ledger(), 4)
	})
}

// A limit that was not heard needs a read of the orders too.
func TestWhatRestsNeedsAReadOfOrders(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		const limit = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":60000}`
		require.Equal(r.t, 200, r.by(new(deaf), r.live, "POST /orders/limit", limit).status)
		time.Sleep(5 * time.Second)
		r.do(r.live, "GET /positions?accountId=acc_1", "")
		held := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, 409, held.status)
		assert.Contains(r.t, held.reason, "read the positions and the orders")
		r.do(r.live, "GET /accounts/acc_1/orders", "")
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
	})
}

// A repeat of what is under way waits for it, and both get its answer.
func TestARepeatWaitsForWhatIsUnderWay(t *testing.T) {
	for name, header := range map[string][]string{"without a key": nil, "with a key": {"Idempotency-Key", "one"}} {
		t.Run(name, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.sim.Fault("POST /orders", tradingsim.Delay(3*time.Second))
				first := make(chan answer, 1)
				left := new(deaf)
				go func() { first <- r.by(left, r.live, "POST /orders", buy, header...) }()
				synctest.Wait()
				left.away.Store(true)
				again := r.do(r.live, "POST /orders", buy, header...)
				assert.Equal(r.t, 200, again.status)
				assert.Equal(r.t, (<-first).body, again.body)
				assert.Len(r.t, r.sim.Ledger(), 1)
			})
		})
	}
}

// While nobody knows what became of an order its bot is told so, and the same key gets the answer
// once it is found out.
func TestWhatIsInDoubt(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		key := []string{"Idempotency-Key", "one"}
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "GET /health" {
				return nil
			}
			return tradingsim.DropResponse()
		})
		first := r.do(r.live, "POST /orders", buy, key...)
		assert.Equal(r.t, []any{409, "idempotency_in_flight", "unknown"}, []any{first.status, first.code, first.outcome})
		assert.NotEmpty(r.t, first.header.Get("Retry-After"))
		other := r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "two")
		assert.Equal(r.t, []any{409, "idempotency_result_unknown", "not-applied"}, []any{other.status, other.code, other.outcome})
		r.sim.FaultEach(nil)
		again := r.do(r.live, "POST /orders", buy, key...)
		assert.Equal(r.t, []any{200, "applied", first.write}, []any{again.status, again.outcome, again.write}, again.body)
		assert.Len(r.t, r.sim.Ledger(), 1)
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "two").status)
	})
}

// A write whose bot has left before anything was sent is not sent.
func TestABotThatLeaves(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		gone := new(deaf)
		gone.away.Store(true)
		assert.Equal(r.t, "not-applied", r.by(gone, r.live, "POST /orders", buy).outcome)
		assert.Empty(r.t, r.sim.Ledger())

		leaves := new(deaf) // while the client reads the account
		r.sim.Fault("GET /trades", tradingsim.Delay(time.Second))
		over := make(chan answer, 1)
		go func() { over <- r.by(leaves, r.live, "POST /orders", buy) }()
		time.Sleep(time.Millisecond)
		leaves.away.Store(true)
		assert.Equal(r.t, "not-applied", (<-over).outcome)
		assert.Empty(r.t, r.sim.Ledger())

		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		assert.Equal(r.t, "not-applied", r.by(gone, r.live, "POST /positions/close", closeBTC).outcome)
		assert.Len(r.t, r.sim.Ledger(), 1)
	})
}

// quick is a bot that has its next request on the way as soon as it has an answer.
type quick struct {
	present
	next func()
}

// hears is the connection of such a bot.
type hears struct {
	*httptest.ResponseRecorder
	bot *quick
}

// Flush implements [http.Flusher].
func (h hears) Flush() { h.ResponseRecorder.Flush(); h.bot.next() }

// A bot that has heard an answer, and wants the same again at once, gets it.
func TestAQuickBot(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		var second answer
		q := &quick{next: func() { second = r.do(r.live, "POST /orders", buy) }}
		first := r.by(q, r.live, "POST /orders", buy)
		assert.Equal(r.t, 200, first.status)
		assert.Equal(r.t, 200, second.status)
		assert.NotEqual(r.t, first.write, second.write)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A bot that leaves while its entry is on its way, and decides again: the entry holds its market
// before anybody knows what becomes of it.
func TestAnEntryOnItsWayWhoseBotHasLeftHoldsItsMarket(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /orders", tradingsim.Delay(5*time.Second))
		first := new(deaf)
		done := make(chan answer)
		go func() { done <- r.by(first, r.live, "POST /orders", buy, "Idempotency-Key", "one") }()
		time.Sleep(time.Second)
		synctest.Wait()
		first.away.Store(true)
		require.Equal(r.t, 200, r.do(r.live, "GET /positions?accountId=acc_1", "").status)
		second := r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "two")
		assert.Equal(r.t, []any{409, "idempotency_result_unknown"}, []any{second.status, second.code})
		assert.Equal(r.t, "applied", (<-done).outcome)
		assert.Len(r.t, r.sim.Ledger(), 1)
	})
}

// waits is a bot whose connection is open and takes what comes, whoever goes by that.
func waits() *deaf {
	d := new(deaf)
	d.hears.Store(true)
	return d
}

// A bot that goes on while its call runs: what it decides then is held, over the answer and a
// restart, until it has read what became of the call.
func TestACallThatIsLeftRunning(t *testing.T) {
	for what, goesOn := range map[string]func(*rig){
		"it reads":            func(r *rig) { r.do(r.live, "GET /positions?accountId=acc_1", "") },
		"it reads its trades": func(r *rig) { r.do(r.live, "GET /trades?accountId=acc_1", "") },
		"it closes":           func(r *rig) { r.do(r.live, "POST /positions/close", closeBTC) },
		"it uses another key": func(r *rig) { r.do(r.live, "POST /orders", buy, "Idempotency-Key", "two") },
		"it repeats, and leaves": func(r *rig) {
			go r.by(waits(), r.live, "POST /orders", buy, "Idempotency-Key", "one")
			time.Sleep(time.Millisecond)
		},
	} {
		t.Run(what, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.sim.Fault("POST /orders", tradingsim.Delay(4*time.Second))
				done := make(chan answer, 1)
				go func() { done <- r.by(waits(), r.live, "POST /orders", buy, "Idempotency-Key", "one") }()
				time.Sleep(1500 * time.Millisecond)
				goesOn(r)
				held := func(why, body string, header ...string) {
					r.t.Helper()
					a := r.do(r.live, "POST /orders", body, header...)
					assert.Equal(r.t, []any{409, "idempotency_result_unknown", "not-applied"}, []any{a.status, a.code, a.outcome})
					assert.Contains(r.t, a.reason, why)
					assert.NotContains(r.t, a.reason, "write ", "who has not heard an answer must not learn its name")
					assert.NotEmpty(r.t, a.header.Get("Retry-After"))
				}
				held("still runs", buyMore)
				held("still runs", buyMore, "Idempotency-Key", "three")
				first := <-done
				require.Equal(r.t, "applied", first.outcome)
				held("was not certainly heard", buyMore)
				held("was not certainly heard", buy)
				r.do(r.live, "GET /positions?accountId=acc_1", "")
				held("5 s after", buyMore) // it may lag
				r.restart()
				held("was not certainly heard", buyMore)
				again := r.do(r.live, "POST /orders", buy, "Idempotency-Key", "one")
				assert.Equal(r.t, []any{200, first.write}, []any{again.status, again.write})
				time.Sleep(5 * time.Second)
				r.do(r.live, "GET /positions?accountId=acc_1", "")
				assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
				assert.Equal(r.t, 2, entries(r))
			})
		})
	}
}

func entries(r *rig) (n int) {
	for _, one := range r.sim.Ledger() {
		if one.Operation == "POST /orders" {
			n++
		}
	}
	return n
}

// A bot that polls while its entries run, and names what it has heard with the next, is not held; over
// a restart, too. What it has not heard it cannot name.
func TestABotThatPollsNamesWhatItHasHeard(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		entry := func(heard string) answer {
			r.sim.Fault("POST /orders", tradingsim.Delay(time.Second))
			done := make(chan answer, 1)
			go func() { done <- r.by(waits(), r.live, "POST /orders", buy, "Trading-Heard", heard) }()
			time.Sleep(100 * time.Millisecond)
			r.do(r.live, "GET /positions?accountId=acc_1", "")
			return <-done
		}
		first := entry("")
		require.Equal(r.t, 200, first.status)
		assert.Equal(r.t, 409, entry("").status)
		assert.Equal(r.t, 409, entry("other, ids").status)
		second := entry("more, " + first.write)
		assert.Equal(r.t, 200, second.status)
		r.restart()
		assert.Equal(r.t, 200, entry(second.write+","+first.write).status)
		assert.Equal(r.t, 409, entry(second.write).status, "the last is not named")
	})
}

// What a read has closed is over after a restart, too.
func TestWhatAReadHasClosedStaysClosed(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		require.Equal(r.t, 200, r.by(new(deaf), r.live, "POST /orders", buy).status)
		time.Sleep(5 * time.Second)
		r.do(r.live, "GET /positions?accountId=acc_1", "")
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
		r.restart()
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
	})
}

// late is a bot whose request lay there while this process did not run.
type late struct {
	*deaf
	since time.Duration
}

func (l late) age() time.Duration { return l.since }

// A read that is served before an entry that came before it: the bot reads while its entry runs.
func TestAnEntryThatAReadOvertakes(t *testing.T) {
	for since, status := range map[time.Duration]int{2 * time.Second: 409, 10 * time.Millisecond: 200} {
		inTime(t, nil, func(r *rig) {
			r.do(r.live, "GET /positions?accountId=acc_1", "")
			require.Equal(r.t, 200, r.by(late{waits(), since}, r.live, "POST /orders", buy).status)
			assert.Equal(r.t, status, r.do(r.live, "POST /orders", buyMore).status)
		})
	}
}

// A read that is under way as the entry comes: the call was given up before its request had left its
// program.
func TestAnEntryThatComesBehindARead(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("GET /positions", tradingsim.Delay(time.Second))
		go r.do(r.live, "GET /positions?accountId=acc_1", "")
		time.Sleep(time.Millisecond)
		require.Equal(r.t, 200, r.by(waits(), r.live, "POST /orders", buy).status)
		assert.Equal(r.t, 409, r.do(r.live, "POST /orders", buyMore).status)
	})
}

// A read of another account says nothing of it.
func TestAnEntryBehindAReadOfAnotherAccount(t *testing.T) {
	inTime(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})}, func(r *rig) {
		key := r.key(localkey.Key{Name: "both", Live: true, Accounts: []string{"acc_1", "acc_2"}, May: localkey.Trade})
		r.days("both")
		r.sim.Fault("GET /positions", tradingsim.Delay(time.Second))
		go r.do(key, "GET /positions?accountId=acc_2", "")
		time.Sleep(time.Millisecond)
		require.Equal(r.t, 200, r.by(waits(), key, "POST /orders", buy).status)
		assert.Equal(r.t, 200, r.do(key, "POST /orders", buyMore).status)
	})
}

// A repeat waits for the first, and has its answer where that is refused: its bot may have gone on
// meanwhile.
func TestARepeatOfWhatIsRefused(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /orders", tradingsim.Together(tradingsim.Delay(3*time.Second), tradingsim.Fail(400, "ASSET_NOTIONAL_CAP")))
		go r.by(waits(), r.live, "POST /orders", buy)
		time.Sleep(time.Second)
		repeat := r.do(r.live, "POST /orders", buy)
		assert.Equal(r.t, []any{400, "not-applied"}, []any{repeat.status, repeat.outcome}, repeat.body)
		assert.Empty(r.t, r.sim.Ledger())
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status, "nothing is held")
	})
}

// While its bot waits, another entry is one that it wants beside the first.
func TestAnEntryWhoseBotWaitsHoldsNothing(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("POST /orders", tradingsim.Delay(5*time.Second))
		done := make(chan answer)
		go func() { done <- r.by(new(deaf), r.live, "POST /orders", buy, "Idempotency-Key", "one") }()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore, "Idempotency-Key", "two").status)
		assert.Equal(r.t, "applied", (<-done).outcome)
		assert.Len(r.t, r.sim.Ledger(), 2)
	})
}

// A request that was lost, and found not to be executed, is answered so under its key, over a
// restart too: it is not the bot that used the key for something else.
func TestAKeyThatIsUsedUp(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		key := []string{"Idempotency-Key", "one"}
		r.faulty(tradingsim.DropRequest(), "GET /health")
		assert.Equal(r.t, "idempotency_in_flight", r.do(r.live, "POST /orders", buy, key...).code)
		r.sim.FaultEach(nil)
		time.Sleep(time.Minute)
		for range 2 {
			again := r.do(r.live, "POST /orders", buy, key...)
			assert.Equal(r.t, []any{409, "idempotency_result_unknown", "not-applied"}, []any{again.status, again.code, again.outcome}, again.body)
			other := r.do(r.live, "POST /orders", buyMore, key...)
			assert.Equal(r.t, 422, other.status)
			r.restart()
		}
		assert.Empty(r.t, r.sim.Ledger())
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", buy, "Idempotency-Key", "two").status)
	})
}
