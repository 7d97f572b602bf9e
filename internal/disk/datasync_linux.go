package disk

import (
	"errors"
	"os"
	"syscall"
)

// datasync makes what was written to a file durable. It leaves out the time of the
// change, which nothing here reads and which would be a second write.
func datasync(file *os.File) error {
	for {
		err := syscall.Fdatasync(int(file.Fd()))
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
