package protect

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Main protects accounts beside whatever trades them, in any language, until ctx ends,
// and writes a line for each event. What trades without [Protection.Guard] or [Follow] is
// not held back: Main can only flatten, and report.
func Main(ctx context.Context, o Options, out io.Writer) error {
	p, err := New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	written := make(chan struct{})
	events := p.Events(ctx)
	go func() {
		defer close(written)
		for e := range events {
			fmt.Fprintln(out, e.At.Format("15:04:05"), e)
		}
	}()
	err = p.Run(ctx)
	cancel()
	<-written
	return errors.Join(err, p.Close())
}
