package ratelimit

import (
	"context"
	"sync"
	"time"
)

// MemoryStore is a [Store] in memory, for the clients of one process.
type MemoryStore struct {
	began time.Time // origin of the store's clock, which is monotonic

	mu      sync.Mutex
	windows map[string]*window
}

var _ Store = (*MemoryStore)(nil)

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{began: time.Now(), windows: make(map[string]*window)}
}

// Take implements [Store]. It returns no error.
func (m *MemoryStore) Take(_ context.Context, _ string, needs []Need, _ time.Duration) (Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	grant := Grant{}
	for i := range needs {
		if wait := m.window(&needs[i].Bucket, now).wait(now, needs[i].Reserve); wait > grant.Wait {
			grant.Wait, grant.Bucket = wait, needs[i].Bucket.Name
		}
	}
	if grant.Wait > 0 {
		return grant, nil
	}
	for i := range needs {
		m.window(&needs[i].Bucket, now).underWay++
	}
	return grant, nil
}

// Return implements [Store]. It returns no error.
func (m *MemoryStore) Return(_ context.Context, _ string, needs []Need, sent bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	for i := range needs {
		m.window(&needs[i].Bucket, now).giveBack(now, sent)
	}
	return nil
}

// Block implements [Store]. It returns no error.
func (m *MemoryStore) Block(_ context.Context, b Bucket, d time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	m.window(&b, now).block(now, d)
	return nil
}

// Usage implements [Store]. It returns no error.
func (m *MemoryStore) Usage(_ context.Context, buckets []Bucket) ([]Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.began)
	usages := make([]Usage, 0, len(buckets))
	for _, b := range buckets {
		u := Usage{Left: b.Limit}
		if w := m.windows[b.Name]; w != nil { // reading creates no window
			w.limit, w.length = b.Limit, b.Window
			u = w.usage(now)
		}
		u.Bucket = b
		usages = append(usages, u)
	}
	return usages, nil
}

// window returns the window of a bucket, with its present limit. The lock is held.
func (m *MemoryStore) window(b *Bucket, now time.Duration) *window {
	w := m.windows[b.Name]
	if w == nil {
		m.forgetIdle(now) // a rotated key leaves its window behind
		w = &window{}
		m.windows[b.Name] = w
	}
	w.limit, w.length = b.Limit, b.Window
	return w
}

func (m *MemoryStore) forgetIdle(now time.Duration) {
	for name, w := range m.windows {
		if w.idle(now) {
			delete(m.windows, name)
		}
	}
}
