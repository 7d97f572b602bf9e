package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// program is a client in a process, and what it is used for.
type program struct {
	*process
	client *trading.Client
	pipes  *rig.Pipes // nil over a transport of its own
}

// start opens a client. Its journal is nil on the paper account.
func (p *process) start(d *disk) *program {
	w, is := p.world, &program{process: p}
	over := trading.WithTransport(p)
	if w.pipes != unpiped {
		is.pipes = rig.OverPipes(w.t, rig.Through(p))
		is.pipes.Drops = w.pipes == drops
		over = is.pipes.Option()
	}
	opts := []trading.Option{trading.WithLiveKey(w.sim.LiveKey()), trading.WithSandboxKey(w.sim.SandboxKey()), over}
	if d != nil {
		opts = append(opts, trading.WithJournal(d))
	}
	if w.exclusive {
		opts = append(opts, trading.WithExclusiveAccounts())
	}
	if w.ttl >= 0 {
		opts = append(opts, trading.WithSendTTL(w.ttl))
	}
	if w.patience >= 0 {
		opts = append(opts, trading.WithResolveTimeout(w.patience))
	}
	if w.limits != (trading.RateLimits{}) {
		opts = append(opts, trading.WithRateLimits(w.limits))
	}
	if w.givenUp.cold {
		opts = append(opts, trading.WithRecovery(trading.Recovery{WithoutBaseline: true}))
	}
	if w.guard > 0 || w.refuses > 0 {
		opts = append(opts, trading.WithGuard(w.asks))
	}
	client, err := trading.New(cmp.Or(w.url, w.sim.URL()), opts...)
	if err != nil {
		panic(fmt.Sprintf("the client cannot be made: %v", err))
	}
	is.client = client
	return is
}

// stop closes the client, and nothing of it runs after that.
func (p *program) stop() {
	err := p.client.Close()
	pending, _ := p.client.Pending(context.Background())                        // after it: a probe that Close waits for may resolve one
	pending = slices.DeleteFunc(pending, func(left trading.PendingWrite) bool { // it waits for a person, and its outcome is known
		return strings.Contains(left.Reason, "contradict each other")
	})
	if left := (*trading.PendingError)(nil); !p.isDead() && p.world.kind != oneHandle && errors.As(err, &left) != (len(pending) > 0) {
		p.world.problem("%s: %d writes are pending, and Close says %v", p.name, len(pending), err)
	}
}

// look reads the account, as a program does that is to decide.
func (p *program) look() {
	if p.world.kind == paper {
		_, _ = p.client.Sandbox.Positions(p.ctx)
		_, _ = p.client.Sandbox.Trades(p.ctx)
		return
	}
	a := p.client.Live.Account(account)
	_, _ = a.State(p.ctx)
	_, _ = a.Positions(p.ctx)
	_, _ = a.OpenOrders(p.ctx)
	_, _ = a.FinishedRuns(p.ctx)
	_, _ = a.Trades(p.ctx)
}

// decide takes the schedule's decision.
func (p *program) decide() {
	w := p.world
	ctx, leave := context.WithCancel(p.ctx)
	defer leave()
	if w.leaves > 0 {
		defer time.AfterFunc(w.leaves, leave).Stop()
	}
	if w.pipes > piped {
		defer time.AfterFunc(w.dieAfter, p.pipes.Swallow).Stop()
	}
	var opts []trading.CallOption
	if w.named {
		opts = append(opts, w.theOne())
	}
	p.write(ctx, w.op, opts...)
}

// write carries an operation out, and notes what the program is told.
func (p *program) write(ctx context.Context, o operation, opts ...trading.CallOption) {
	w := p.world
	var meta trading.Meta
	var err error
	named := len(opts) > 0
	opts = append(opts, trading.ResponseInto(&meta))
	op := w.endpointOf(o)
	switch op {
	case trading.OpSandboxClose:
		_, err = p.client.Sandbox.ClosePosition(ctx, "BTC", w.part(), opts...)
	case trading.OpSandboxOrder:
		_, err = p.client.Sandbox.PlaceOrder(ctx, theOrder(), opts...)
	default:
		err = send(ctx, p.client.Live.Account(account), op, w.part(), opts...)
	}
	if p.isDead() {
		return
	}
	w.tell(toldBy(p, op, &meta, named, err))
}

// toldBy is what a call of a program has said.
func toldBy(p *program, op trading.Operation, meta *trading.Meta, named bool, err error) told {
	t := told{by: p.name, op: op, key: meta.Key, outcome: trading.OutcomeOf(err), late: errors.Is(err, trading.ErrLate), named: named, err: err}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		t.id, t.notSent = write.Intent, write.NotSent
	}
	return t
}

// part is how much of the position a close is of.
func (s *schedule) part() trading.Part {
	if s.whole {
		return trading.All
	}
	return trading.Percent(trading.Dec("50"))
}

func theOrder() trading.Order {
	return trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
}

// send sends a live write.
func send(ctx context.Context, a *trading.Account, op trading.Operation, part trading.Part, opts ...trading.CallOption) (err error) {
	order := theOrder()
	switch op {
	case trading.OpLimit:
		order.LimitPrice = trading.At(trading.Dec("60000"))
		_, err = a.PlaceLimit(ctx, order, opts...)
	case trading.OpClose:
		_, err = a.ClosePosition(ctx, "BTC", part, opts...)
	case trading.OpTPSL:
		_, err = a.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: trading.At(trading.Dec("67000")), StopLoss: trading.At(trading.Dec("63000"))}, opts...)
	case trading.OpTWAP:
		order.Size = trading.Dec("0.1")
		_, err = a.PlacePro(ctx, order, trading.TWAP{Duration: 5 * time.Minute}, opts...)
	default:
		_, err = a.PlaceOrder(ctx, order, opts...)
	}
	return err
}

// hear notes a resolution.
func (p *program) hear(r trading.Resolution) {
	if p.isDead() {
		return
	}
	p.world.tell(told{
		by: p.name, op: r.Intent.Operation, id: r.Intent.ID, key: r.Intent.Key, outcome: r.Outcome,
		late: r.Late, maybeLate: r.MaybeLate, resolved: true, err: r.Err,
	})
}

// recover finds out what was left, and says why where it cannot.
func (p *program) recover(last bool) {
	ctx, cancel := context.WithTimeout(p.ctx, 26*time.Hour) // longer than anything waits
	defer cancel()
	resolutions, err := p.client.Recover(ctx)
	if p.isDead() {
		return
	}
	if ctx.Err() != nil {
		p.world.problem("%s: Recover does not end: %v", p.name, err)
		return
	}
	for _, r := range resolutions {
		p.hear(r)
		p.world.learns(r)
		if last && r.Outcome == trading.Unknown {
			p.world.reasons = append(p.world.reasons, p.world.reason(r))
		}
	}
	pending, failed := p.client.Pending(p.ctx)
	if p.isDead() {
		return
	}
	if err == nil && failed == nil {
		p.world.Ended(p.name+": Recover has no error", slices.DeleteFunc(pending, func(w trading.PendingWrite) bool { return !w.Left }))
	}
}

// first is the life in which the decision is taken.
func (w *world) first(killAt int) (steps int) {
	p := w.process("first", killAt)
	defer p.kill()
	p.stopAt = w.stopAt
	if w.person != none {
		acted := make(chan struct{})
		timer := time.AfterFunc(w.personAt, func() {
			defer close(acted)
			w.personActs()
		})
		defer func() {
			if timer.Stop() {
				w.personActs()
				return
			}
			<-acted
		}()
	}
	var d *disk
	if w.kind != paper {
		d = p.open(w.file("one"))
		d.failsAt, d.losesAt, d.slowAt = w.disk, w.losesAt, w.slowAt
	}
	one := p.start(d)
	if w.givenUp.cold {
		one.givesUp()
	}
	time.Sleep(6 * time.Second) // reads show what was before
	if !w.givenUp.cold {
		one.givesUp()
	}
	if w.looks {
		one.look()
	}
	one.paces()
	defer w.degrades()()
	programs := []*program{one}
	disks := []*disk{d}
	var group sync.WaitGroup
	switch w.kind {
	case oneHandle:
		programs = append(programs, p.start(d))
	case twoFiles:
		other := w.process("other", 0)
		defer other.kill()
		od := other.open(w.file("two"))
		programs, disks = append(programs, other.start(od)), append(disks, od)
	}
	one.closesElsewhere(w.elsewhere.at < 0)
	group.Go(one.decide)
	group.Go(func() { one.closesElsewhere(w.elsewhere.at >= 0 && rig.Pause(p.ctx, w.elsewhere.at)) })
	if w.exits && w.kind == solo {
		group.Go(func() {
			if rig.Pause(p.ctx, 3*time.Second) {
				one.write(p.ctx, closing)
			}
		})
	}
	for _, other := range programs[1:] {
		group.Go(func() {
			if rig.Pause(other.ctx, w.otherAt) {
				other.decide()
			}
		})
	}
	group.Wait()
	for i, q := range programs {
		if i == 0 || q.process == p {
			q.stop()
			continue
		}
		w.live(q)
	}
	w.idle("first:")
	for _, d := range disks {
		if d != nil {
			d.close()
		}
	}
	return p.steps
}

// live lets the other program run on until it knows, and stop.
func (w *world) live(q *program) {
	ctx, cancel := context.WithTimeout(q.ctx, time.Hour)
	defer cancel()
	pending, _ := q.client.Pending(ctx)
	for _, left := range pending {
		if r, _ := q.client.ResolveID(ctx, left.ID); r != nil {
			q.hear(*r)
		}
	}
	q.stop()
}

func (d *disk) close() {
	if !d.process.isDead() && (d.failsAt == 0 || d.appends < d.failsAt) {
		d.flush()
	}
	if err := d.Close(); err != nil {
		d.process.world.problem("%s: the journal's Close: %v", d.process.name, err)
	}
}

// second is the life that finds out what was left, trades on, and may be killed.
func (w *world) second() {
	if w.kind == paper {
		return
	}
	p := w.process("second", w.kill2)
	defer p.kill()
	d := p.open(w.file("one"))
	one := p.start(d)
	var group sync.WaitGroup
	if w.repeat {
		group.Go(one.decide)
	}
	group.Go(func() { one.recover(false) })
	group.Go(func() { one.closesElsewhere(w.elsewhere.again) })
	group.Wait()
	if !p.isDead() && w.repeat {
		one.decide()
	}
	one.takesAgain()
	one.stop()
	w.idle("second:")
	d.close()
}

// third is the life that finds out what was left, and nothing else.
func (w *world) third() {
	for _, name := range []string{"one", "two"} {
		if w.kind == paper || name == "two" && w.kind != twoFiles {
			continue
		}
		p := w.process("third", 0)
		d := p.open(w.file(name))
		one := p.start(d)
		one.recover(true)
		one.stop()
		w.idle("third:")
		d.close()
		p.kill()
	}
}
