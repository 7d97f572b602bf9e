//go:build !linux

package journal

import (
	"os"
	"testing"
)

// datasync is the call that bbolt makes.
func datasync(b *testing.B, file *os.File) {
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
}
