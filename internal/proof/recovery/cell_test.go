package recovery

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// cell is one of the matrix.
type cell struct {
	write
	state
	fault
	restart   time.Duration
	exclusive bool
	beside    bool     // somebody else trades as much meanwhile
	bare      bool     // closed trades show neither times nor sizes
	inherited bool     // an earlier run made the state
	soon      bool     // the write is decided a second after the start
	lags      rig.Lags // of the reads; 3 seconds each unless set
	accident  accident
}

const farBehind = 4900 * time.Millisecond

// lagsApart are two ways in which one read shows what another does not yet.
var lagsApart = []rig.Lags{
	{0, farBehind, time.Second, farBehind},
	{farBehind, 0, 2 * time.Second, time.Second},
}

func (c cell) String() string {
	return fmt.Sprint(c.write.name, ", ", c.state.name, ", ", c.fault.name, ", ", nameOf(c.restart))
}

// verdict is what a cell came to.
type verdict struct {
	trading.Resolution
	took     time.Duration
	ran      int
	wrong    string
	expected bool // that it is decided
}

func (v verdict) decided() bool { return v.Outcome != trading.Unknown }

// run plays a cell in a bubble of its own.
func (c cell) run(t *testing.T) (v verdict) {
	opts := []tradingsim.Option{tradingsim.WithLag(3 * time.Second), tradingsim.WithSampling(24 * time.Hour), tradingsim.WithRequestLog(200)}
	if c.bare {
		opts = append(opts, tradingsim.WithoutTradeFields("size", "openedAt", "closedAt"))
	}
	if c.accident.drift != 0 {
		opts = append(opts, c.accident.clock())
	}
	if c.accident.skew != 0 {
		opts = append(opts, tradingsim.WithSkew(c.accident.skew))
	}
	sim := tradingsim.New(opts...)
	if c.lags != (rig.Lags{}) {
		c.lags.Set(sim)
	}
	first := c.begin(t, sim)

	if c.fault.fault != nil {
		sim.Fault("POST "+c.path, c.fault.fault)
	}
	c.accident.begins(first.journal, fromWrite)
	begun, ended := first.wire.watch(c.path, c.drop, c.kill)
	ctx, leave := context.WithCancel(t.Context())
	placed := make(chan error, 1)
	go func() { placed <- c.place(first.account(), ctx) }()
	sent := c.waits(first, begun, ended, placed)
	last := first
	var err error
	if c.restart == inProcess {
		leave()
		err = <-placed
	} else {
		left := first.kill(t)
		leave()
		err = <-placed
		time.Sleep(c.restart / 2)
		c.tradeBeside(t, sim)
		time.Sleep(c.restart / 2)
		last = start(t, sim, c.accident.later(left, first.journal), c.exclusive, c.accident.options()...)
	}
	require.NotEqual(t, c.tooLate(), sent, "%s: the write was sent", c)
	if !sent {
		c.fault = faultOf(killedBefore)
	}
	began := time.Now()
	patience, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	switch {
	case c.restart != inProcess:
		if rs, _ := last.Recover(patience); len(rs) > 0 {
			v.Resolution = rs[len(rs)-1]
			require.Len(t, rs, 1)
		}
	case !sent:
		v.unsent(err, begun)
		return v
	default:
		c.tradeBeside(t, sim)
		if r, _ := last.Resolve(patience, err); r != nil {
			v.Resolution = *r
		}
	}
	v.took = time.Since(began)
	if testing.Verbose() && !*printMatrix {
		for _, q := range sim.Requests() {
			t.Log(q.At.Sub(began), q.Operation, q.Header.Get("Idempotency-Key"), q.Status)
		}
	}
	_ = last.Close()
	v.judge(c, sim)
	v.expected = c.expected()
	return v
}

// waits waits until the fault has come about. It returns false if nothing of the write leaves:
// the disk takes longer than the write may be sent. Where the process ends, that is meanwhile.
func (c cell) waits(first *process, begun, ended <-chan struct{}, placed chan error) (sent bool) {
	var dies <-chan time.Time
	if c.restart != inProcess && c.accident.ttl == 0 && c.accident.from == fromWrite {
		dies = time.After(min(c.accident.sync, 10*time.Second) / 2) // no entry waits for longer
	}
	select {
	case <-begun:
	case err := <-placed:
		placed <- err
		return false
	case <-dies:
		return false
	}
	c.accident.begins(first.journal, fromSend)
	if c.after == 0 {
		<-ended
	}
	time.Sleep(max(c.after, aLittle))
	return true
}

// begin is a bot that has run until the write is decided.
func (c cell) begin(t *testing.T, sim *tradingsim.Sim) *process {
	p := start(t, sim, c.accident.disk(newJournal()), c.exclusive, c.accident.options()...)
	if c.accident.pace == 0 {
		time.Sleep(10 * time.Second)
	}
	require.NoError(t, c.state.make(p.account(), t.Context()))
	if c.accident.pace == 0 {
		time.Sleep(time.Minute)
	}
	sim.SetMark("BTC", "64100")
	c.accident.trade(t, p)
	if !c.inherited {
		return p
	}
	p = start(t, sim, p.kill(t), c.exclusive)
	if c.soon && c.exit() { // what is read beside it is there before
		p.wire.takes = aLittle / 10
	}
	if c.soon {
		time.Sleep(time.Second)
	} else {
		time.Sleep(10 * time.Second)
	}
	return p
}

// tradeBeside is somebody else in the terminal.
func (c cell) tradeBeside(t *testing.T, sim *tradingsim.Sim) {
	if c.beside {
		sim.Trade(string(account), "long", "0.01", "BTC")
	}
}

// unsent holds the word of a call that sent nothing against the connection.
func (v *verdict) unsent(err error, begun <-chan struct{}) {
	v.Outcome, v.Err, v.expected = trading.OutcomeOf(err), err, true
	time.Sleep(time.Hour)
	select {
	case <-begun:
		v.wrong = "sent after its call had ended"
	default:
		if v.Outcome != trading.NotApplied || !errors.Is(err, trading.ErrExpired) && !errors.Is(err, trading.ErrJournal) {
			v.wrong = fmt.Sprintf("nothing was sent, and the call says %s: %v", v.Outcome, err)
		}
	}
}

// judge holds what the client says against the simulator's ledger.
func (v *verdict) judge(c cell, sim *tradingsim.Sim) {
	key := string(v.Intent.Key)
	if key == "" {
		v.wrong = "the write is not known"
		return
	}
	v.ran = len(sim.Executed(key))
	o := rig.Oracle{Problem: func(format string, args ...any) { v.wrong = fmt.Sprintf(format, args...) }}
	if !v.Late && (v.ran > 0) != c.ran {
		o.Problem("executed %d times, against the fault", v.ran)
	}
	o.Said(v.Evidence.String(), v.Outcome, v.ran, nil)
	o.Once(key, v.ran, nil)
}
