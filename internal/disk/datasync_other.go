//go:build !linux

package disk

import "os"

// datasync makes what was written to a file durable.
func datasync(file *os.File) error { return file.Sync() }
