package trading

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where a resend would come too late, what is left of the caller's time goes into
// finding out; the error tells of both, and of the lost answer.
func TestResolveWithinTheRestOfADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := newScript(t, cutAfterWrite(), answered(404, refusalBody(CodeOrderNotFound)))
		client := newTestClient(t, service, WithRetry(Retry{MinWait: time.Second, MaxWait: time.Second}))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := client.Live.Account("acc_1").PlaceOrder(ctx, testOrder(), ResolveWithin(time.Minute))
		assert.Equal(t, Unknown, OutcomeOf(err))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrUndetermined)
		lost := (*TransportError)(nil)
		require.ErrorAs(t, err, &lost)
		service.done()
	})
}

// An exit goes out although the journal cannot take it. There is no intent then
// that could be asked about, and nothing is sent to find out.
func TestResolveWithinOfAnExitWithoutAJournal(t *testing.T) {
	full := &brokenJournal{Journal: newMemoryJournal(), err: errors.New("the disk is full")}
	service := newScript(t, cutAfterWrite())
	client := newTestClient(t, service, WithJournal(full))
	_, err := client.Live.Account("acc_1").ClosePosition(t.Context(), "BTC", All, ResolveWithin(time.Minute), WithLifetime(0))
	assert.Equal(t, Unknown, OutcomeOf(err))
	require.ErrorIs(t, err, ErrUndetermined)
	service.done()
}

// A paper write that leaves no trace to compare is told as undetermined, and the
// account is not read for it.
func TestAskingAboutWhatShowsInARead(t *testing.T) {
	client := newTestClient(t, newScript(t))
	call := client.caller().begin(t.Context(), &endpointSandboxTriggers, nil)
	call.failure = errors.New("lost")
	r, err := newResolver(client.core, client.defaults, nil)
	require.NoError(t, err)
	verdict := call.askWhatBecame(t.Context(), r)
	assert.Equal(t, Unknown, verdict.Outcome)
	require.ErrorIs(t, verdict.Err, ErrUndetermined)
}

// Who acknowledges an intent tells the hooks which: its account, its symbol, and by
// whom it was found out.
func TestHooksAreToldWhatWasAcknowledged(t *testing.T) {
	var told []Verdict
	hooks := Hooks{Settled: func(_ context.Context, v Verdict) { told = append(told, v) }}
	client := newTestClient(t, newScript(t, cutAfterWrite()), WithHooks(hooks))
	_, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), testOrder(), WithLifetime(0))
	lost := (*WriteError)(nil)
	require.ErrorAs(t, err, &lost)
	require.NotEmpty(t, lost.Intent)

	require.Error(t, client.Acknowledge(t.Context(), lost.Intent, Unknown, "not looked"))
	require.Error(t, client.Acknowledge(t.Context(), "i_none", Applied, "of nothing"))
	assert.Empty(t, told)
	require.NoError(t, client.Acknowledge(t.Context(), lost.Intent, NotApplied, "looked"))
	require.Len(t, told, 1)
	assert.Equal(t, lost.Intent, told[0].Intent.ID)
	assert.Equal(t, AccountID("acc_1"), told[0].Intent.Account)
	assert.Equal(t, "BTC", told[0].Intent.Symbol)
	assert.Equal(t, NotApplied, told[0].Outcome)
	assert.Equal(t, BasisPerson, told[0].Basis)

	pending := 0
	for _, err := range client.core.journal.Pending(t.Context()) {
		require.NoError(t, err)
		pending++
	}
	assert.Zero(t, pending)
}

// A guard that holds a resend back leaves the doubt: it is looked into, and the
// error tells of the guard and of the lost answer.
func TestResolveWithinAfterAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("one send is enough")
		sends := 0
		guard := func(context.Context, Write) error {
			if sends++; sends > 1 {
				return enough
			}
			return nil
		}
		service := newScript(t, cutAfterWrite()) // a fence is held back too
		client := newTestClient(t, service, WithGuard(guard))
		_, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), testOrder(), ResolveWithin(time.Second))
		assert.Equal(t, Unknown, OutcomeOf(err))
		require.ErrorIs(t, err, enough)
		require.ErrorIs(t, err, ErrUndetermined)
		lost := (*TransportError)(nil)
		require.ErrorAs(t, err, &lost)
		service.done()
	})
}

// An entry whose being beside another one that is open cannot be written down is
// not sent; the one before it keeps its doubt.
func TestAnEntryBesideAnotherIsNotedFirst(t *testing.T) {
	full := &brokenJournal{Journal: newMemoryJournal()}
	service := newScript(t, cutAfterWrite())
	client := newTestClient(t, service, WithJournal(full))
	account := client.Live.Account("acc_1")
	_, err := account.PlaceOrder(t.Context(), testOrder(), WithLifetime(0))
	require.Equal(t, Unknown, OutcomeOf(err))

	full.err = errors.New("the disk is full")
	_, err = account.PlaceOrder(t.Context(), testOrder(), WithLifetime(0), SkipUnsettled())
	require.ErrorIs(t, err, full.err)
	require.ErrorIs(t, err, ErrJournal)
	assert.Equal(t, NotApplied, OutcomeOf(err))
	require.NoError(t, client.core.markBeside(t.Context(), "i_none"), "what is not open is beside nothing")
	service.done()
}
