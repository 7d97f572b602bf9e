package journal

import (
	"errors"
	"time"
)

// Options say how a journal is opened. The zero value is right for most.
type Options struct {
	// Keep is how long the journal answers for what is settled, 30 days if zero.
	// The service itself answers for an idempotency key for 24 hours.
	Keep time.Duration

	// History is how many settled intents without a decision are kept at most,
	// 10,000 if zero. They are there to be looked at.
	History int

	// Wait is how long Open waits for another process to close the file, 5 seconds
	// if zero, and not at all if negative.
	Wait time.Duration

	// ReadOnly opens a file that exists, beside others who read it.
	ReadOnly bool
}

func (o Options) withDefaults() (Options, error) {
	if o.Keep < 0 || o.History < 0 {
		return o, errors.New("journal: Keep and History cannot be negative")
	}
	if o.Keep == 0 {
		o.Keep = 30 * 24 * time.Hour
	}
	if o.History == 0 {
		o.History = 10_000
	}
	if o.Wait == 0 {
		o.Wait = 5 * time.Second
	}
	o.Wait = max(o.Wait, 0)
	return o, nil
}
