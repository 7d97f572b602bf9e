//go:build !linux

package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Keep runs a program, and kills it once stdin ends. What the program has started lives on:
// only Linux hands a program's descendants to whoever asks for them.
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
