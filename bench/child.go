package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// self is this program again, as a process of its own.
func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// startService starts the service in another process, and returns its address and
// what stops it.
func startService(ctx context.Context) (base string, stop func(), err error) {
	cmd, err := self(ctx, "-child", "service")
	if err != nil {
		return "", nil, err
	}
	in, err := cmd.StdinPipe() // closed with this process, which ends the other
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the service did not start: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}
