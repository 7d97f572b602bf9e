package resolve

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A bounded context says the same as one with a timeout, whether or not somebody has waited for it before its end.
func TestABoundedContextIsOneWithATimeout(t *testing.T) {
	const bounds = time.Second
	why, leaves := errors.New("the time is over"), errors.New("the caller has left")
	type contexts struct {
		stop  func() // both
		leave context.CancelCauseFunc
	}
	for name, ends := range map[string]func(contexts){
		"nothing":                   func(contexts) {},
		"its time":                  func(contexts) { time.Sleep(bounds) },
		"its parent":                func(c contexts) { c.leave(leaves) },
		"its parent, then its time": func(c contexts) { c.leave(leaves); time.Sleep(bounds) },
		"what it bounds":            func(c contexts) { c.stop() },
		"what it bounds, then its time and its parent": func(c contexts) { c.stop(); time.Sleep(bounds); c.leave(leaves) },
	} {
		for _, waited := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, leave := context.WithCancelCause(t.Context())
				defer leave(nil)
				want, cancel := context.WithTimeoutCause(parent, bounds, why)
				got := bound(parent, bounds, why)
				stop := func() { cancel(); got.stop() }
				defer stop()
				if waited {
					_ = got.Done()
				}
				ends(contexts{stop, leave})
				synctest.Wait()
				over := false
				if !errors.Is(got.Err(), want.Err()) || !errors.Is(context.Cause(got), context.Cause(want)) {
					t.Errorf("ended by %s, waited for %t: says %v, %v; want %v, %v", name, waited, got.Err(), context.Cause(got), want.Err(), context.Cause(want))
				}
				select {
				case <-got.Done():
					over = true
				default:
				}
				if over != (want.Err() != nil) {
					t.Errorf("ended by %s, waited for %t: its end is there: %t", name, waited, over)
				}
			})
		}
	}
}

// It has the deadline and the values of one with a timeout, and so has one that is within it.
func TestABoundedContextPassesOnWhatItHas(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		got := bound(context.WithValue(t.Context(), key{}, "told"), time.Second, errHangs)
		defer got.stop()
		within, cancel := context.WithCancel(got)
		defer cancel()
		by, ok := within.Deadline()
		if want := time.Now().Add(time.Second); !ok || !by.Equal(want) || within.Value(key{}) != "told" {
			t.Errorf("within it: until %v, %t, with %v; want %v and its value", by, ok, within.Value(key{}), want)
		}
		<-within.Done()
		if !errors.Is(context.Cause(within), errHangs) {
			t.Errorf("what is within it ends for %v; want %v", context.Cause(within), errHangs)
		}
	})
}
