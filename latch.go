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
	keys map[string]latch // by digest, so that no key is kept
}

type latch struct {
	until   time.Time
	code    Code
	message string
}

// shut notes a refused key.
func (l *latches) shut(key string, code Code, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = make(map[string]latch, 2)
	}
	l.keys[key] = latch{until: time.Now().Add(latchTime), code: code, message: message}
}

// open forgets a refusal: the key works.
func (l *latches) open(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, key)
}

// check returns the refusal that still stands. The caller that finds it run out
// becomes the probe, and the others wait for what it finds.
func (l *latches) check(key string) (shut latch, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shut, ok := l.keys[key]
	if !ok {
		return latch{}, false
	}
	now := time.Now()
	if now.Before(shut.until) {
		return shut, true
	}
	probe := shut
	probe.until = now.Add(latchTime)
	l.keys[key] = probe
	return latch{}, false
}

// checkLatch refuses a call whose key was refused a moment ago.
func (c *call) checkLatch() error {
	exit := c.endpoint.write && !c.entry
	if c.endpoint.keyless || exit {
		return nil
	}
	shut, held := c.core.latches.check(c.apiKey.text.digest)
	if !held {
		return nil
	}
	refusal := refuse(c.env, shut.code, "the key was refused a moment ago and is not tried again yet: %s", shut.message)
	refusal.RetryAfter = time.Until(shut.until)
	return refusal
}
