package mcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestUp: what has ended did so by now, however far a clock of the machine was set back.
func TestUp(t *testing.T) {
	now := Moment{Wall: time.Unix(1e9, 0), Up: time.Hour, Boot: "b"}
	e := &Engine{now: func() Moment { return now }}
	for _, c := range []struct {
		at   Moment
		want time.Duration
	}{
		{Moment{Wall: now.Wall.Add(-time.Minute), Up: now.Up - time.Minute, Boot: "b"}, now.Up - time.Minute},
		{Moment{Wall: now.Wall.Add(lastSend), Up: now.Up + lastSend, Boot: "b"}, now.Up + lastSend},
		{Moment{Wall: now.Wall.Add(24 * time.Hour), Up: now.Up - time.Minute, Boot: "b"}, now.Up + lastSend},
		{Moment{Wall: now.Wall.Add(24 * time.Hour), Boot: "a"}, now.Up + lastSend},
	} {
		assert.Equal(t, c.want, e.up(c.at), "%v", c.at)
	}
}
