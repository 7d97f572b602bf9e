//go:build !linux

package sidecar

import "io"

// lock is for Linux alone: elsewhere two sidecars on one account do not notice one another.
func lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
