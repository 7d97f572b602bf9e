package recovery

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// accident is a column of the matrix: what is wrong for the whole life of a cell, beside
// its fault.
type accident struct {
	name string
	skew time.Duration // of the service's clock against the bot's
	// drift is how much further the service's clock goes in each hour of the bot's.
	drift time.Duration
	pace  time.Duration // the bot trades from its start on, so far apart, until the write
	sync  time.Duration // what is to be durable takes so long, from from on
	from  moment
	ttl   time.Duration // how long a write may be sent; 0: as long as the client has it
}

// moment is when a disk becomes slow.
type moment uint8

const (
	fromStart moment = iota // of the bot
	fromWrite               // from the decision on, its first record too
	fromSend                // from the write's first byte on
)

var accidents = []accident{
	{name: "the service's clock an hour behind", skew: -time.Hour},
	{name: "the service's clock 10s behind", skew: -10 * time.Second},
	{name: "the service's clock 3s behind", skew: -3 * time.Second},
	{name: "the service's clock 3s ahead", skew: 3 * time.Second},
	{name: "the service's clock 10s ahead", skew: 10 * time.Second},
	{name: "the service's clock an hour ahead", skew: time.Hour},
	{name: "the service's clock loses 30s an hour", drift: -30 * time.Second},
	{name: "the service's clock gains 4s an hour", drift: 4 * time.Second},
	{name: "own orders 0.2s apart", pace: 200 * time.Millisecond},
	{name: "own orders 1s apart", pace: time.Second},
	{name: "own orders 3s apart", pace: 3 * time.Second},
	{name: "a sync takes 1s", sync: time.Second},
	{name: "a sync takes 1m", sync: time.Minute, from: fromWrite},
	{name: "a sync takes 1m, and a write may be sent for 5m", sync: time.Minute, from: fromWrite, ttl: 5 * time.Minute},
	{name: "a sync takes 1m, from the send on", sync: time.Minute, from: fromSend},
	{name: "a sync takes 10m", sync: 10 * time.Minute, from: fromWrite},
	{name: "a sync takes 10m, from the send on", sync: 10 * time.Minute, from: fromSend},
}

// plainTables is how many tables of the matrix have no accident.
var plainTables = len(tables()) - len(accidentTables())

// accidentTables are the columns, for each kind of write on a declared account, and for
// a market order on one that is not.
func accidentTables() (all []*table) {
	for _, a := range accidents {
		for _, w := range writes {
			all = append(all, &table{title: w.name + ", declared, " + a.name, cells: cellsOf(w, states, cell{exclusive: true, accident: a})})
		}
		if a.skew != 0 { // the first request of a process is the write itself
			closing := writes[2]
			all = append(all, &table{title: closing.name + ", declared, state of an earlier run, a second after the start, " + a.name,
				cells: cellsOf(closing, states, cell{exclusive: true, inherited: true, soon: true, accident: a})})
		}
		if a.pace == 0 { // without a declaration, no baseline forms at a pace
			all = append(all, &table{title: writes[0].name + ", not declared, " + a.name,
				cells: cellsOf(writes[0], states, cell{accident: a})})
		}
	}
	return all
}

// ordersBefore is how many own orders a pace consists of.
const ordersBefore = 12

// trade buys and sells in turn, until the write is decided.
func (a accident) trade(t *testing.T, p *process) {
	if a.pace > 0 {
		require.NoError(t, rig.Paces(t.Context(), p.account(), ordersBefore, a.pace))
	}
}

// options are the client's.
func (a accident) options() []trading.Option {
	if a.ttl == 0 {
		return nil
	}
	return []trading.Option{trading.WithSendTTL(a.ttl)}
}

// slower is how much longer a decision may take.
func (a accident) slower() time.Duration {
	if a.pace > 0 { // the looks wait until what was traded shows
		return 2 * ledger.Lag
	}
	return 4 * a.sync
}

// clock is the service's, of a service that begins now.
func (a accident) clock() tradingsim.Option {
	began := time.Now()
	return tradingsim.WithClock(func() time.Time {
		now := time.Now()
		return now.Add(rig.Drift(began, now, a.drift))
	})
}

// disk makes a journal slow, as it is for a bot that begins now: the state that it finds is
// of an earlier time.
func (a accident) disk(j journal.Store) journal.Store {
	if a.sync == 0 {
		return j
	}
	d := &slowDisk{}
	d.Store, d.Sync = j, func() time.Duration {
		if d.slow.Load() {
			return a.sync
		}
		return 0
	}
	d.slow.Store(a.from == fromStart)
	return d
}

// later is the disk of the next run, which finds it slow, and what it lacks noted.
func (a accident) later(left, before journal.Store) journal.Store {
	next := a.disk(left)
	a.begins(next, a.from)
	if d, ok := next.(*slowDisk); ok { // it takes no sync to note
		missing, _ := before.(*slowDisk).Gap()
		_ = d.SetGap(missing)
	}
	return next
}

// begins makes a disk slow that becomes so at this moment.
func (a accident) begins(j journal.Store, now moment) {
	if d, ok := j.(*slowDisk); ok && a.from == now {
		d.slow.Store(true)
	}
}

type slowDisk struct {
	rig.SlowDisk
	slow atomic.Bool
}

// New is that of [journal.Log].
func (d *slowDisk) New() bool {
	_, first := d.Store.(firstJournal)
	return first
}
