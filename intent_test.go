package trading

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leavingJournal takes an intent whose context ends while it is written.
type leavingJournal struct {
	*memoryJournal
	leave context.CancelFunc
}

func (j *leavingJournal) Begin(ctx context.Context, in Intent) error {
	if err := j.memoryJournal.Begin(ctx, in); err != nil {
		return err
	}
	j.leave()
	return ctx.Err()
}

func TestAnIntentThatWasNotSentIsNotLeftPending(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	intents := &leavingJournal{newMemoryJournal(), leave}
	client := newTestClient(t, newScript(t), WithJournal(intents))
	_, err := client.Live.Account("acc_1").PlaceOrder(ctx, testOrder())
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, NotApplied, OutcomeOf(err))
	for in, err := range intents.Pending(context.Background()) {
		t.Error(in, err)
	}
}

// failingJournal takes nothing.
type failingJournal struct{ *memoryJournal }

var errDisk = errors.New("no space left")

func (failingJournal) Begin(context.Context, Intent) error { return errDisk }

func TestAFailingJournalHoldsBackEntriesAndNotExits(t *testing.T) {
	const closed = `{"success":true,"pnl":"1.00","fee":"0.10","newBalance":"100.00","status":"ACTIVE"}`
	script := newScript(t, answered(200, closed))
	client := newTestClient(t, script, WithJournal(failingJournal{newMemoryJournal()}))
	account := client.Live.Account("acc_1")
	_, err := account.PlaceOrder(context.Background(), testOrder())
	require.ErrorIs(t, err, ErrJournal)
	require.ErrorIs(t, err, errDisk)
	assert.Equal(t, NotApplied, OutcomeOf(err))

	result, err := account.ClosePosition(context.Background(), "BTC", All)
	require.NoError(t, err, "an exit goes out without it")
	require.ErrorIs(t, result.Meta.Unjournaled, errDisk, "and says so")
	script.done()
}
