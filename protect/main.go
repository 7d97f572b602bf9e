package protect

import (
	"context"
	"errors"
)

// Main protects accounts beside whatever trades them, in any language, until ctx ends,
// and shows each event, one after the other. What trades without [Protection.Guard] or [Follow] is
// not held back: Main can only flatten, and report.
func Main(ctx context.Context, o Options, show func(Event)) error {
	p, err := New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	shown := make(chan struct{})
	events := p.Events(ctx)
	go func() {
		defer close(shown)
		for e := range events {
			show(e)
		}
	}()
	err = p.Run(ctx)
	cancel()
	<-shown
	return errors.Join(err, p.Close())
}
