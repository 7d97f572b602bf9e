package trading

import (
	"context"
	"errors"
	"net/http/httptrace"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What may end an attempt, and what everybody is told then.
func TestAttemptContextEnds(t *testing.T) {
	type key struct{}
	gone := errors.New("gone home")
	for name, row := range map[string]struct {
		end  func(a *attemptContext, parent context.CancelCauseFunc)
		err  error
		why  error
		left time.Duration // until it ends
	}{
		"by its time":       {func(*attemptContext, context.CancelCauseFunc) {}, context.DeadlineExceeded, errAttemptTimeout, time.Second},
		"with the attempt":  {func(a *attemptContext, _ context.CancelCauseFunc) { a.cancel() }, context.Canceled, context.Canceled, 0},
		"with its parent":   {func(_ *attemptContext, parent context.CancelCauseFunc) { parent(gone) }, context.Canceled, gone, 0},
		"twice":             {func(a *attemptContext, _ context.CancelCauseFunc) { a.cancel(); a.cancel() }, context.Canceled, context.Canceled, 0},
		"first its parent":  {func(a *attemptContext, parent context.CancelCauseFunc) { parent(gone); synctest.Wait(); a.cancel() }, context.Canceled, gone, 0},
		"first the attempt": {func(a *attemptContext, parent context.CancelCauseFunc) { a.cancel(); parent(gone) }, context.Canceled, context.Canceled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, leave := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
				defer leave(nil)
				began := time.Now()
				a := newAttemptContext(parent, time.Now(), time.Second)
				var connected int
				ctx := a.with(httptrace.WithClientTrace(context.WithValue(a, key{}, "hook's"), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected++ }}))

				until, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.Equal(t, began.Add(time.Second), until)
				assert.Equal(t, "value", a.Value(key{}))
				assert.Equal(t, "hook's", ctx.Value(key{}))
				httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{})
				assert.Equal(t, 1, connected)

				// Those below it are told, and need no goroutine to wait for that.
				before := runtime.NumGoroutine()
				child, cancelChild := context.WithCancel(ctx)
				defer cancelChild()
				told := 0
				context.AfterFunc(ctx, func() { told++ })
				stay := context.AfterFunc(ctx, func() { t.Error("it was stopped") })
				early := context.AfterFunc(ctx, func() { t.Error("it was stopped too") })
				assert.Equal(t, before, runtime.NumGoroutine())
				assert.True(t, stay())
				assert.False(t, stay())
				assert.True(t, early())
				require.NoError(t, ctx.Err())
				require.NoError(t, child.Err())
				require.NoError(t, a.why())

				row.end(a, leave)
				<-ctx.Done()
				assert.Equal(t, row.left, time.Since(began))
				assert.Equal(t, row.err, ctx.Err())
				assert.Equal(t, row.why, a.why())
				synctest.Wait()
				assert.Equal(t, row.err, child.Err())
				assert.Equal(t, 1, told)

				// Whoever comes late is told at once.
				assert.False(t, context.AfterFunc(ctx, func() { told++ })())
				late, cancelLate := context.WithCancel(ctx)
				defer cancelLate()
				synctest.Wait()
				assert.Equal(t, 2, told)
				assert.Equal(t, row.err, late.Err())
			})
		})
	}
}

// What is asked for only once it has ended is ended too.
func TestAttemptContextThatNobodyWatched(t *testing.T) {
	a := newAttemptContext(context.Background(), time.Now(), time.Hour)
	require.NoError(t, a.Err())
	a.cancel()
	<-a.Done()
	require.ErrorIs(t, a.Err(), context.Canceled)
	assert.False(t, a.AfterFunc(func() {})())
}

// Without anybody who waits it has no timer, and ends all the same.
func TestAttemptContextThatIsOnlyLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttemptContext(t.Context(), time.Now(), time.Second)
		time.Sleep(time.Second - time.Nanosecond)
		require.NoError(t, a.Err())
		require.NoError(t, a.why())
		time.Sleep(time.Nanosecond)
		require.Equal(t, errAttemptTimeout, a.why())
		require.Equal(t, context.DeadlineExceeded, a.Err())
		<-a.Done()
		a.cancel()
		assert.Equal(t, errAttemptTimeout, a.why())
	})
}

// What ends by itself stays what it is.
func TestAttemptContextOfAHookThatEnds(t *testing.T) {
	a := newAttemptContext(context.Background(), time.Now(), time.Hour)
	defer a.cancel()
	hooked, cancel := context.WithCancel(a)
	assert.Equal(t, hooked, a.with(hooked))
	assert.Equal(t, context.Context(a), a.with(a))
	cancel()
	require.ErrorIs(t, a.with(hooked).Err(), context.Canceled)
	require.NoError(t, a.Err())
}

// A caller's own deadline counts if it is the sooner one.
func TestAttemptContextHasTheSoonerDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		a := newAttemptContext(parent, time.Now(), time.Minute)
		defer a.cancel()
		until, _ := a.Deadline()
		assert.Equal(t, time.Now().Add(time.Second), until)
		<-a.Done()
		assert.Equal(t, context.DeadlineExceeded, a.Err())
	})
}
