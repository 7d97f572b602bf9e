// Package program runs what the tests of a program test: its run function, or the program itself.
package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// asProgram makes the binary of a test the program that it tests.
const asProgram = "TEST_AS_PROGRAM"

// Main is the TestMain of a program that its tests start by [Start].
func Main(m *testing.M, program func()) {
	if os.Getenv(asProgram) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// Start starts the program, and returns what it printed and its exit code. What it does takes
// too long for the race detector.
func Start(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	if depth.Race {
		t.Skip("whole days: .ci/run runs them without the race detector, too")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Prints holds what a run prints in virtual time, with no service configured, to a text.
func Prints(t *testing.T, want string, run func(context.Context, io.Writer) error) {
	t.Helper()
	t.Setenv("TRADING_BASE_URL", "")
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("it printed:\n%s\nwant:\n%s", &out, want)
		}
	})
}
