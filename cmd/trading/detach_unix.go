//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive the group of this one.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
