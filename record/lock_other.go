//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package record

import "os"

// lockFile makes the file of the lock alone: that one process at a time has the audit
// is left to the program here.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
