package journal

import (
	"bytes"
	"context"
	"iter"
	"sync"
)

// NewMemory returns a [Store] that lasts as long as the process: for tests of
// programs, never for real money.
func NewMemory() Store { return &memory{state: newState()} }

type memory struct {
	shared Shared
	mu     sync.Mutex
	state  *state
}

func (m *memory) Append(ctx context.Context, _ bool, records ...Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.state.check(records); err != nil {
		return err
	}
	for _, r := range records {
		r.Data = bytes.Clone(r.Data)
		m.state.apply(r)
	}
	return nil
}

func (m *memory) Pending(ctx context.Context) iter.Seq2[History, error] {
	return yieldAll(ctx, func(ctx context.Context) ([]History, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return snapshot(m.state.pending), ctx.Err()
	})
}

func (m *memory) Named(ctx context.Context, name string) ([]History, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.state.named(name), nil
}

func (m *memory) Forget(ctx context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := m.state.forgettable(name)
	if err == nil {
		m.state.forget(name)
	}
	return err
}

func (m *memory) Shared() *Shared { return &m.shared }
