package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What no client can promise, counted apart, and what is nobody's loss: a write that the journal
// calls unknown.
const (
	unknown     = "unknown at the end"
	unjournaled = "an exit without an append"
	paused      = "a pause between gate and byte"
	undated     = "killed before any answer had shown the service's time"
	notCopied   = "acknowledged, and not copied to an asynchronous standby"
)

// written is a write as the journal has it.
type written struct {
	name    string
	symbol  string
	begun   time.Time
	entry   bool
	dated   bool // by the service's clock
	ended   bool
	outcome trading.Outcome
}

// journaled reads which keys the journal has, and of which write each is.
func (w *takeovers) journaled() map[trading.Key]*written {
	conn, err := pgx.Connect(w.t.Context(), w.database.url("postgres"))
	require.NoError(w.t, err)
	defer func() { _ = conn.Close(w.t.Context()) }()
	rows, err := conn.Query(w.t.Context(), "SELECT intent, data, at FROM trading.record ORDER BY n")
	require.NoError(w.t, err)
	byIntent, byKey := map[string]*written{}, map[trading.Key]*written{}
	for rows.Next() {
		var intent, data []byte
		var at time.Time
		require.NoError(w.t, rows.Scan(&intent, &data, &at))
		var r struct {
			Begin *struct {
				Intent trading.Intent
				First  struct{ Key trading.Key }
				Terms  struct{ Decided [3]int64 } // by the wall clock, the process's and the service's
			}
			Key *struct{ Key trading.Key }
			End *struct{ Outcome trading.Outcome }
		}
		require.NoError(w.t, json.Unmarshal(data, &r))
		of := byIntent[string(intent)]
		if of == nil {
			of = &written{name: string(intent), begun: at}
			byIntent[string(intent)] = of
		}
		switch {
		case r.Begin != nil:
			of.entry, of.symbol, of.begun = r.Begin.Intent.Entry, r.Begin.Intent.Symbol, r.Begin.Intent.Decided
			of.dated = r.Begin.Terms.Decided[2] != 0
			if r.Begin.Intent.ClientOrderID != "" {
				of.name = decisionOf(r.Begin.First.Key)
			}
			byKey[r.Begin.First.Key] = of
		case r.Key != nil:
			byKey[r.Key.Key] = of
		case r.End != nil:
			of.ended, of.outcome = true, r.End.Outcome
		}
	}
	require.NoError(w.t, rows.Err())
	return byKey
}

// decisionOf is a key without the number of its try.
func decisionOf(k trading.Key) string {
	if at := strings.LastIndex(string(k), "-"); strings.HasPrefix(string(k), "d-") {
		return string(k)[:at]
	}
	return string(k)
}

// judge holds what was said, and what the journal has, against the service's ledger, once nothing
// runs any more. It returns the exceptions, counted.
func (w *takeovers) judge() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	excepted := map[string]int{}
	keys := w.journaled()
	w.judgeOnce(keys, excepted)
	w.judgeTold()
	w.judgeFences(excepted)
	return excepted
}

// judgeOnce: no decision runs twice, and whatever ran is in the journal.
func (w *takeovers) judgeOnce(keys map[trading.Key]*written, excepted map[string]int) {
	ran := map[string]int{}
	for i := range w.executed {
		e := &w.executed[i]
		key, name := trading.Key(e.Key), decisionOf(trading.Key(e.Key))
		in := keys[key]
		switch {
		case in != nil:
			name = in.name
			switch {
			case !in.ended || in.outcome == trading.Unknown:
				excepted[unknown]++
			case in.outcome != trading.Applied:
				w.problem("executed under %s, and the journal has %+v", key, *in)
			}
		case w.notCopied(e):
			excepted[notCopied]++
		case e.Operation == string(trading.OpClose):
			excepted[unjournaled]++
		default:
			w.problem("executed, and in no journal: %s under %s", e.Operation, key)
		}
		if ran[name]++; ran[name] == 2 {
			w.problem("executed twice: %s, %s", e.Operation, name)
		}
	}
	for key, in := range keys {
		if len(w.sim.Executed(string(key))) == 0 && in.ended && in.outcome == trading.Applied && ran[in.name] == 0 {
			w.problem("applied by the journal, and never executed: %+v", *in)
		}
	}
}

// notCopied reports whether a failover may have lost the records of what was executed.
func (w *takeovers) notCopied(e *tradingsim.Execution) bool {
	from, may := w.lost[w.senders[e.Request]]
	return may && e.At.After(from)
}

// judgeTold: no verdict that a bot was told, or found, is false.
func (w *takeovers) judgeTold() {
	for _, said := range w.words {
		if said.Key == "" || said.Outcome == trading.Unknown {
			continue
		}
		applied := false
		for i := range w.executed {
			e := &w.executed[i]
			if decisionOf(trading.Key(e.Key)) != decisionOf(said.Key) {
				continue
			}
			// Another process may decide the same again, later, where this one was refused.
			if said.Outcome == trading.Applied || e.At.Before(said.At) || w.senders[e.Request] == said.Holder {
				applied = true
			}
		}
		if applied != (said.Outcome == trading.Applied) {
			w.problem("a false verdict: %+v", said)
		}
	}
}

// judgeFences: of a holder nothing arrives after another process has taken the lease.
func (w *takeovers) judgeFences(excepted map[string]int) {
	for i := 1; i < len(w.holders); i++ {
		old, taken := w.holders[i-1].Holder, w.holders[i].At
		late := w.arrived[old].Sub(taken)
		switch on, was := w.stopped[old]; {
		case late <= 0:
		case was && w.arrived[old].Sub(on) < 200*time.Millisecond:
			excepted[paused]++
		default:
			w.problem("a write of %s arrived %s after the taking by %s; it was stopped: %t", old, late, w.holders[i].Holder, was)
		}
	}
}

func (w *takeovers) problem(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("%s", fmt.Sprintf(format, args...))
}
