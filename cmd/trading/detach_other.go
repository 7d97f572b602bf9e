//go:build !unix

package main

import "os/exec"

// detach does nothing where a process outlives the one that started it.
func detach(*exec.Cmd) {}
