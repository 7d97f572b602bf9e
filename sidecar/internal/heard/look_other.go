//go:build !linux || 386 || s390x

package heard

import "time"

// look asks no system that is not known: a further request shows that the answer was heard.
func (c *Conn) look() seen {
	if c.failed {
		return lost
	}
	return unknown
}

func (c *Conn) present() Presence { return Unsure }

func (c *Conn) pending() bool { return false }

func (c *Conn) age(now time.Time) time.Duration { return c.listener.stalls.age(now) }

func (c *Conn) allowed() bool { return true }
