package sidecar

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/internal/testing/largest"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// searched is the largest position under search.
type searched struct {
	*positions
	now  func() time.Duration
	sent map[string]*write
	what map[*write]became
}

type became struct {
	answer  reply
	outcome trading.Outcome
	known   time.Time
}

func newSearched(now func() time.Duration) largest.Bound {
	s := &searched{now: now, sent: map[string]*write{}, what: map[*write]became{}}
	s.positions = newPositions(&Config{MaxPosition: map[string]decimal.Decimal{largest.Market: largest.Limit}}, nil)
	s.of = func(w *write) (reply, trading.Outcome, time.Time) {
		b := s.what[w]
		return b.answer, b.outcome, b.known
	}
	return s
}

func (s *searched) Enter(l largest.Look, w largest.Write) bool {
	of := &write{
		Write: hearing.Write{ID: w.ID, Place: hearing.Place{Account: "acc_1", Market: largest.Market}, Kind: hearing.Entry, Waits: w.Kind != largest.Now},
		asks:  &asks{Side: trading.Long, Size: json.Number(w.Size.String())},
	}
	s.sent[w.ID] = of
	c, err := s.claimOf(of, of.asks)
	return err == nil && s.admit(of, c, largest.Limit, claims.Snapshot(l)) == nil
}

// See is an entry that is refused.
func (s *searched) See(l largest.Look) {
	s.Enter(l, largest.Write{ID: "too large", Size: decimal.NewFromInt(1000)})
}

func (s *searched) Doubt(w largest.Write) {
	s.what[s.sent[w.ID]] = became{known: s.began.Add(s.now()), outcome: trading.Unknown}
}

func (s *searched) Known(w largest.Write, a largest.Answer) {
	b := became{known: s.began.Add(s.now()), outcome: trading.NotApplied}
	if a.Applied {
		b.outcome = trading.Applied
	}
	switch {
	case w.Kind == largest.Running && a.Order != "":
		b.answer.body = fmt.Appendf(nil, `{"runId":%q}`, a.Order)
	case a.Order != "":
		b.answer.body = fmt.Appendf(nil, `{"order":{"id":%q}}`, a.Order)
	case a.After.IsPositive():
		b.answer.body = fmt.Appendf(nil, `{"position":{"symbol":"BTC","side":"long","size":%s}}`, a.After)
	}
	s.what[s.sent[w.ID]] = b
}

// Restart is not in this search: what it takes over, tests of the sidecar prove.
func (s *searched) Restart() {}

// TestLargest finds no schedule in which bots get a position that is too large, and none that holds them out for
// ever.
func TestLargest(t *testing.T) { largest.Check(t, false, false, newSearched) }
