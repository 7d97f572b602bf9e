package trading

import (
	"sync"
	"time"
)

// latchTime is how long a refused key is not tried again.
const latchTime = 30 * time.Second

// latches hold back calls whose key the service has refused: repeated failures
// make it turn away the whole address, good keys included. After half a minute
// one call probes. Exits may try at any time.
type latches struct {
	mu   sync.Mutex
	keys map[Environment]latch
}

type latch struct {
	until   time.Time
	code    Code
	message string
}

// shut notes a refused key.
func (l *latches) shut(env Environment, code Code, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = make(map[Environment]latch, 2)
	}
	l.keys[env] = latch{until: time.Now().Add(latchTime), code: code, message: message}
}

// open forgets a refusal: the key works.
func (l *latches) open(env Environment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, env)
}

// check returns the refusal that still stands. The caller that finds it run out
// becomes the probe, and the others wait for what it finds.
func (l *latches) check(env Environment) (shut latch, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shut, ok := l.keys[env]
	if !ok {
		return latch{}, false
	}
	now := time.Now()
	if now.Before(shut.until) {
		return shut, true
	}
	probe := shut
	probe.until = now.Add(latchTime)
	l.keys[env] = probe
	return latch{}, false
}

// checkLatch refuses a call whose key was refused a moment ago.
func (c *call) checkLatch() error {
	exit := c.endpoint.write && !c.entry
	if c.endpoint.keyless || exit {
		return nil
	}
	shut, held := c.core.latches.check(c.env)
	if !held {
		return nil
	}
	refusal := refuse(c.env, shut.code, "the key was refused a moment ago and is not tried again yet: %s", shut.message)
	refusal.RetryAfter = time.Until(shut.until)
	return refusal
}
