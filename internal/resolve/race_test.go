package resolve

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// A write that was in doubt is described while its call goes on with the next key: the
// detector of races is the one that tests it.
func TestEdge19_PendingBesideAChangeOfKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := ledger.Answer{Class: ledger.Refusal, Status: 409, Code: "STALE_PRICE", Says: ledger.NotApplied, Advice: ledger.NewKey, Price: true}
		d := client(t, &service{}, foreground)
		w := newWrite(d, "w_1", order)
		d.Own(w, "")
		require.NoError(t, d.Before(t.Context(), w, false))
		for _, said := range []ledger.Answer{silence, replayed(stale)} {
			d.SendBegins(w)
			d.Heard(w, w.Intent.Decided, said, said.Replayed)
		}
		require.True(t, d.WantsKey(w))
		var lists sync.WaitGroup
		lists.Go(func() { d.describe(w) }) // it was listed before its doubt was over
		d.ChangeKey(w, "the next key")
		lists.Wait()
		d.SendingOver(context.Background(), w, 0)
		d.Conclude(w, &Response{})
	})
}
