package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// keep are the arguments with which this command is no command, but runs a bot for a trial.
var keep = []string{"trial", "keep", "--"}

// Kept calls [Keep] where a process was started to run a bot, and does not return then.
func Kept(args []string) {
	if len(args) > len(keep)+1 && slices.Equal(args[1:len(keep)+1], keep) {
		os.Exit(Keep(args[len(keep)+1:]))
	}
}

// Keep runs a program and everything that it starts. It ends when nothing of it runs any more,
// with the program's exit code; or, once stdin ends, after it has killed all of it.
func Keep(argv []string) int {
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := adopt()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		return 126
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		killAll(cmd.Process)
	}()
	_ = cmd.Wait() // its state says how it ended
	outlive(cmd.Process.Pid)
	if !cmd.ProcessState.Exited() {
		fmt.Fprintln(os.Stderr, "trial:", cmd.ProcessState)
	}
	return cmd.ProcessState.ExitCode()
}
