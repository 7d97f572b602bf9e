//go:build !linux

package main

import "os"

// datasync is the sync that the journal does.
func datasync(file *os.File) error { return file.Sync() }
