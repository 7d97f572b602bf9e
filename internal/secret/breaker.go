package secret

import (
	"sync"
	"time"
)

// HoldBack is how long a refused key is not tried again.
const HoldBack = 30 * time.Second

// mostTripped bounds what a breaker remembers, for a program that rotates keys.
const mostTripped = 16

// Refusal is why a key is held back, and until when.
type Refusal struct {
	Code, Message string
	Until         time.Time
}

// Breaker holds back a key that the service has refused: repeated failures make the
// service turn away the whole address, good keys included. After [HoldBack] one
// caller probes. The zero value holds nothing back.
type Breaker struct {
	mu      sync.Mutex
	tripped map[string]Refusal // by the key's ID
}

// Trip notes that a key was refused.
func (b *Breaker) Trip(k APIKey, code, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tripped == nil {
		b.tripped = make(map[string]Refusal, 2)
	}
	b.tripped[k.ID()] = Refusal{code, message, time.Now().Add(HoldBack)}
	if len(b.tripped) <= mostTripped {
		return
	}
	oldest := k.ID()
	for id, r := range b.tripped {
		if r.Until.Before(b.tripped[oldest].Until) {
			oldest = id
		}
	}
	delete(b.tripped, oldest)
}

// Reset notes that a key works.
func (b *Breaker) Reset(k APIKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tripped, k.ID())
}

// Check returns the refusal that still holds the key back. The caller that finds it
// run out is the probe, and the others wait for what it finds.
func (b *Breaker) Check(k APIKey) (refusal Refusal, held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refusal, ok := b.tripped[k.ID()]
	if !ok {
		return Refusal{}, false
	}
	now := time.Now()
	if now.Before(refusal.Until) {
		return refusal, true
	}
	probe := refusal
	probe.Until = now.Add(HoldBack)
	b.tripped[k.ID()] = probe
	return Refusal{}, false
}
