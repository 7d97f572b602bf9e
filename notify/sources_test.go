package notify

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// watch has a Notifier watch a client until the returned function ends it.
func watch(t *testing.T, n *Notifier, c *trading.Client) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); n.Watch(ctx, c) }()
	return func() {
		cancel()
		<-over
		require.NoError(t, within(n, time.Second))
	}
}

// said are the texts that were posted, by kind.
func said(t *testing.T, r *receiver, kind Kind) (texts []string) {
	t.Helper()
	for _, body := range r.sent() {
		var m struct{ Kind, Text, Account string }
		require.NoError(t, json.Unmarshal([]byte(body), &m))
		if m.Kind == string(kind) {
			texts = append(texts, m.Account+": "+m.Text)
		}
	}
	return texts
}

func TestHaltsAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := tradingtest.Client(t, tradingsim.New())
		r := &receiver{}
		n := open(t, r)
		end := watch(t, n, c)
		time.Sleep(5 * time.Second)
		c.Halt("lunch")
		time.Sleep(5 * time.Second)
		c.Halt("a long lunch")
		time.Sleep(5 * time.Second)
		c.Resume()
		time.Sleep(5 * time.Second)
		end()
		assert.Equal(t, []string{": halted, entries are refused: lunch", ": halted, entries are refused: a long lunch", ": resumed, entries are taken again"}, said(t, r, Halt))
	})
}

// A write that is pending for a minute is said once, and its end.
func TestAPendingWriteIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		c := tradingtest.Client(t, sim, trading.WithJournal(journal.NewMemory()), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		r := &receiver{}
		n := open(t, r)
		end := watch(t, n, c)
		sim.Fault("POST /orders", tradingsim.DropResponse())
		buy := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
		_, err := c.Live.Account("acc_1").PlaceOrder(t.Context(), buy, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		time.Sleep(50 * time.Second)
		synctest.Wait()
		assert.Empty(t, said(t, r, Pending), "a minute is not over")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		texts := said(t, r, Pending)
		require.Len(t, texts, 1, "once")
		assert.Contains(t, texts[0], "acc_1: POST /orders in BTC: its outcome has not been known since 00:00:00 UTC: write ")
		write := (*trading.WriteError)(nil)
		require.ErrorAs(t, err, &write)
		require.NoError(t, c.Acknowledge(t.Context(), write.Intent, trading.Applied, "seen in the terminal"))
		time.Sleep(5 * time.Second)
		end()
		texts = said(t, r, Pending)
		require.Len(t, texts, 2)
		assert.Contains(t, texts[1], "is pending no more")
	})
}

func TestAFlatteningIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		c := tradingtest.Client(t, sim)
		r := &receiver{}
		n := open(t, r)
		report, err := flatten.Account(t.Context(), c.Live.Account("acc_1"), flatten.Options{Halt: c})
		require.NoError(t, err)
		n.Flattened(report, err)
		n.Flattened(nil, errors.New("it never began"))
		n.Flattened(nil, nil)
		require.NoError(t, within(n, time.Second))
		texts := said(t, r, Flatten)
		require.Len(t, texts, 2)
		assert.Contains(t, texts[0], "acc_1: flat: account acc_1 after")
		assert.Equal(t, ": not flat: it never began", texts[1])
	})
}

func TestWhichEventsOfAProtectionAreSaid(t *testing.T) {
	for _, row := range []struct {
		e    protect.Event
		want bool
	}{
		{protect.Event{Kind: protect.Changed, From: protect.Starting, To: protect.OK}, false},
		{protect.Event{Kind: protect.Changed, From: protect.OK, To: protect.Warned}, true},
		{protect.Event{Kind: protect.Changed, From: protect.Warned, To: protect.OK}, false},
		{protect.Event{Kind: protect.Changed, From: protect.Warned, To: protect.SoftHalt}, true},
		{protect.Event{Kind: protect.Changed, From: protect.SoftHalt, To: protect.OK}, true},
		{protect.Event{Kind: protect.Changed, From: protect.Starting, To: protect.Held}, true},
		{protect.Event{Kind: protect.Refused, To: protect.SoftHalt}, false},
		{protect.Event{Kind: protect.Refused, Missed: 3}, true},
		{protect.Event{Kind: protect.Alert, Reason: "the floor is not known"}, true},
		{protect.Event{Kind: protect.BlindBegan}, true},
	} {
		row.e.Account = "acc_1"
		m, ok := fromEvent(row.e)
		assert.Equal(t, row.want, ok, "%+v", row.e)
		assert.Equal(t, Floor, m.Kind)
		assert.Equal(t, trading.AccountID("acc_1"), m.Account)
		assert.Contains(t, m.Text, row.e.Reason)
	}
}

// A price falls until an account is near its loss floor: whoever is called hears that it is flattened and
// that it is held, and by which room.
func TestAFloorIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		p, err := protect.New(protect.Options{
			Client: tradingtest.Client(t, sim, trading.WithJournal(journal.NewMemory())), Accounts: []trading.AccountID{"acc_1"}, Dir: t.TempDir(),
		})
		require.NoError(t, err)
		defer p.Close()
		r := &receiver{}
		n := open(t, r)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{}, 2)
		go func() { n.Protection(ctx, p); over <- struct{}{} }()
		synctest.Wait() // it listens
		go func() { _ = p.Run(ctx); over <- struct{}{} }()
		sim.Trade("acc_1", "long", "1", "BTC")
		time.Sleep(30 * time.Second)
		assert.Empty(t, said(t, r, Floor), "nothing is near")
		sim.SetMark("BTC", "60500")
		time.Sleep(30 * time.Second)
		cancel()
		<-over
		<-over
		require.NoError(t, within(n, time.Second))
		texts := said(t, r, Floor)
		require.Len(t, texts, 2)
		assert.Contains(t, texts[0], "acc_1: account acc_1: changed from ok to flattening: room is $1471.20")
		assert.Contains(t, texts[1], "acc_1: account acc_1: changed from flattening to held: flat: room is $1471.20")
	})
}

// Who hears of a pending write hears whether entries in its market go on.
func TestFound24_AMarketThatIsOpenAgain(t *testing.T) {
	p := trading.PendingWrite{Intent: trading.Intent{ID: "w_1", Operation: trading.OpOrder, Symbol: "BTC"}}
	assert.Contains(t, lateText(p), "entries in its market are refused")
	p.MarketOpen = true
	assert.Contains(t, lateText(p), "entries in its market go on")
}
