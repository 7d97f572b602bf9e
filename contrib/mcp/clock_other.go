//go:build !linux

package mcp

import "time"

func bootClock() (boot string, up time.Duration) { return processClock() }
