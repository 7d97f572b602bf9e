package trading

import (
	"context"
	"errors"
)

// Two writes that are open at the same time, and show in the same part of the
// account, cannot be told apart by what the account shows. Each is noted to have
// been beside the other before its first byte, in the journal too, since the
// question may be asked after a restart.

// register notes an intent that is about to begin, and returns those that are open
// beside it and have been alone so far.
func (u *unsettled) register(in *openIntent) []IntentID {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open.show(in)
	beside, any := in.beside()
	in.Beside = in.Beside || any
	u.open.add(in)
	return beside
}

// forget takes back an intent that did not begin.
func (u *unsettled) forget(in *openIntent) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open.drop(in)
}

// isBeside reports whether another write has been open beside an intent; false of nil.
func (u *unsettled) isBeside(open *openIntent) bool {
	if open == nil {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return open.Beside
}

// setBeside notes that another write is open beside an intent, and returns the
// intent as the journal has to have it; false if it has that already, or the
// intent is settled or not in the journal.
func (u *unsettled) setBeside(id IntentID) (Intent, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	in := u.open.find(id)
	if in == nil || in.Beside {
		return Intent{}, false
	}
	in.Beside = true
	in.note()
	return in.Intent, in.durable
}

// waits reports whether a write leaves something with the service that waits.
func waits(op Operation) bool {
	e := endpointOf(op) // nil for one that this version does not know
	return op == OpLimit || e != nil && e.pro
}

// noteBeside tells the intents that are open beside the call's own.
func (c *call) noteBeside() error {
	if err := c.core.loadUnsettled(c); err != nil && c.entry {
		return err
	}
	for _, id := range c.core.unsettled.register(c.open) {
		if err := c.core.markBeside(c, id); err != nil && c.entry {
			return err
		}
	}
	return nil
}

// markBeside writes down that another write is open beside an intent. No other
// Begin may come between: it would be of the intent as it was.
func (c *core) markBeside(ctx context.Context, id IntentID) error {
	c.begins.Lock()
	defer c.begins.Unlock()
	in, wanted := c.unsettled.setBeside(id)
	if !wanted {
		return nil
	}
	if err := c.journal.Begin(ctx, in); err != nil && !errors.Is(err, ErrSettled) {
		return err
	}
	return nil
}

// beginIntent makes an intent durable as it is now. open is what this process knows
// of it, or nil.
func (c *core) beginIntent(ctx context.Context, open *openIntent, now *Intent) error {
	c.begins.RLock()
	defer c.begins.RUnlock()
	now.Beside = now.Beside || c.unsettled.isBeside(open)
	if err := c.journal.Begin(ctx, *now); err != nil {
		return err
	}
	c.unsettled.began(open, now)
	return nil
}
