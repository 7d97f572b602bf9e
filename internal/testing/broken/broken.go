// Package broken holds a suite of rules against what breaks them: each rule has to catch the defects that it is for.
package broken

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// Table tries each rule against its defects, and wants a failure of each. rules and defects have to name the
// same ones; try returns what a rule, by its number, has against a defect.
func Table(t *testing.T, rules []string, defects map[string][]string, try func(t *testing.T, rule int, defect string) []string) {
	t.Helper()
	for i, rule := range rules {
		if len(defects[rule]) == 0 {
			t.Errorf("no defect shows what %q is for", rule)
		}
		for _, defect := range defects[rule] {
			t.Run(rule+": "+defect, func(t *testing.T) {
				if len(try(t, i, defect)) == 0 {
					t.Errorf("a store that %s passes", defect)
				}
			})
		}
		delete(defects, rule)
	}
	for name := range defects {
		t.Errorf("there is no rule %q", name)
	}
}

// Failures are what a check reports to its T, or that it has panicked.
func Failures(check func(*T)) []string {
	t := &T{}
	done := make(chan struct{})
	go func() { // which FailNow ends
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic: %v", v)
			}
		}()
		check(t)
	}()
	<-done
	return t.failures
}

// T takes the place of a *testing.T.
type T struct {
	mu       sync.Mutex
	failures []string
}

// Helper does nothing.
func (t *T) Helper() {}

// Context is one that does not end.
func (t *T) Context() context.Context { return context.Background() }

// Errorf keeps a failure.
func (t *T) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// Fatalf is Errorf, and ends the check.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// FailNow ends the check.
func (t *T) FailNow() { t.Fatalf("failed") }
