package journal

import (
	"os"
	"syscall"
	"testing"
)

// datasync is the call that bbolt makes.
func datasync(b *testing.B, file *os.File) {
	if err := syscall.Fdatasync(int(file.Fd())); err != nil {
		b.Fatal(err)
	}
}
