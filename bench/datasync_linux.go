package main

import (
	"os"
	"syscall"
)

// datasync is the sync that the journal does.
func datasync(file *os.File) error { return syscall.Fdatasync(int(file.Fd())) }
