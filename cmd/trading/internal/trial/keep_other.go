//go:build !linux

package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

const killsLess = "on this system a kill takes the program alone: what it has started lives on, and only Linux hands that to whoever asks; use --kill-command"

// Keep runs a program, and kills it once stdin ends.
func Keep(argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		return 126
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = cmd.Process.Kill()
	}()
	err := cmd.Wait()
	if exited := new(exec.ExitError); errors.As(err, &exited) {
		return exited.ExitCode()
	}
	return 0
}
