package live

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// Halt stops what has not left yet.

// An entry that is on its way when Halt returns does not leave, wherever it is: with a guard of the program's that
// takes its time, with the journal, or with a connection that is being made.
func TestAHaltOfAnEntryThatIsOnItsWay(t *testing.T) {
	for at, stage := range map[string]func(r rig.Rig, halt func()) rig.Rig{
		"a guard of the program's": func(r rig.Rig, halt func()) rig.Rig {
			return rig.Join(r.T, r.Sim, trading.WithGuard(func(_ context.Context, w trading.Write) error {
				if w.Entry {
					halt()
				}
				return nil
			}))
		},
		"the journal": func(r rig.Rig, halt func()) rig.Rig {
			d := rig.NewDisk()
			d.Slow = func(record journal.Record) {
				if rig.IsOf(record, "begin") {
					halt()
				}
			}
			return rig.Join(r.T, r.Sim, trading.WithJournal(d.Open()))
		},
	} {
		t.Run(at, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				var client *trading.Client
				r = stage(r, func() {
					client.Halt("the desk is closed")
					time.Sleep(time.Second)
				})
				client = r.Client
				sent := writes(r)
				err := rig.EntryCall(r)
				require.ErrorIs(r.T, err, trading.ErrHalted)
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
				assert.Equal(r.T, sent, writes(r), "nothing was sent")
			})
		})
	}
}

func TestAHaltWhileAConnectionIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var client *trading.Client
		var arrived atomic.Int64 // bytes
		slow := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			client.Halt("the desk is closed")
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				n, _ := far.Read(make([]byte, 1))
				arrived.Add(int64(n))
			}()
			return near, nil
		}}
		var err error
		client, err = trading.New("http://127.0.0.1/v1", trading.WithSandboxKey("pk_test_x"), trading.WithTransport(slow),
			trading.WithHealthGate(trading.HealthGate{Off: true}))
		require.NoError(t, err)
		_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"))
		require.ErrorIs(t, err, trading.ErrHalted)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		require.NoError(t, client.Close())
		synctest.Wait()
		assert.Zero(t, arrived.Load())
	})
}

// What was proven flat stays so: an entry that a slow guard had when the halt came adds nothing after the proof.
func TestAnAccountThatIsFlatStaysSo(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		judged := make(chan struct{})
		r = rig.Join(r.T, r.Sim, trading.WithSendTTL(time.Minute), trading.WithGuard(func(context.Context, trading.Write) error {
			close(judged)
			time.Sleep(20 * time.Second)
			return nil
		}))
		ended := make(chan error, 1)
		go func() { ended <- rig.EntryCall(r) }()
		<-judged
		report, err := flatten.Account(r.T.Context(), r.Account(), flatten.Options{Halt: r.Client})
		require.NoError(r.T, err)
		assert.True(r.T, report.Flat)
		require.ErrorIs(r.T, <-ended, trading.ErrHalted)
		assert.Empty(r.T, r.Fills())
	})
}

// The question for a stored answer can place an entry, and is one that has not left.
func TestAHaltOfAQuestionThatIsOnItsWay(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d, sent := rig.NewDisk(), 0
		d.Slow = func(record journal.Record) {
			if rig.IsOf(record, "fact") && bytes.Contains(record.Data, fmt.Appendf(nil, `"k":%d,`, ledger.ProbeBegun)) && sent == 0 {
				r.Halt("the desk is closed")
				sent = r.Sent(trading.OpOrder)
				time.Sleep(time.Second)
			}
		}
		r = rig.Join(r.T, r.Sim, trading.WithJournal(d.Open()))
		left := r.LeaveBehind()
		ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Minute)
		defer cancel()
		_, err := r.Account().Resolve(ctx, left)
		require.Equal(r.T, 1, sent, "the question was on its way: %v", err)
		assert.Equal(r.T, sent, r.Sent(trading.OpOrder), "nothing was sent")
	})
}
