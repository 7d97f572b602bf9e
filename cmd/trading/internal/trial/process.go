// Package trial runs programs in the scenarios of package tradingtest/trial: each with a
// simulation, a port, keys and a folder of its own.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// killTimeout is how long everything that a bot has started may take to die.
const killTimeout = 20 * time.Second

// process is a program, below one that kills all of it.
type process struct {
	keeper  []string        // the command that calls [Keep], before the program's own
	argv    func() []string // of the next life
	env     []string
	output  *os.File
	kill    string // a command of the shell that kills what is not below us, such as a container
	stdin   io.Closer
	ended   chan struct{}
	outcome error
}

// Start starts it, where it does not run: a bot may outlive its sidecar.
func (p *process) Start() error {
	select {
	case <-p.Ended():
	default:
		return nil
	}
	argv := slices.Concat(p.keeper, p.argv())
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...) // it ends with its stdin
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, p.output, p.output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.stdin, p.ended = stdin, ended
	go func() {
		defer close(ended)
		p.outcome = cmd.Wait()
	}()
	return nil
}

func (p *process) Kill() error {
	if p.stdin == nil { // it has not begun, or is dead
		return nil
	}
	_ = p.stdin.Close() // it is closed where the program has ended
	p.stdin = nil
	var err error
	if p.kill != "" {
		ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", p.kill)
		cmd.Env = p.env
		if text, failed := cmd.CombinedOutput(); failed != nil {
			err = fmt.Errorf("--kill-command: %w: %.200s", failed, text)
		}
	}
	select {
	case <-p.ended:
		return err
	case <-time.After(killTimeout):
		return errors.Join(err, fmt.Errorf("%s has not died within %s", strings.Join(p.argv(), " "), killTimeout))
	}
}

func (p *process) Ended() <-chan struct{} {
	if p.ended == nil { // it has not begun
		p.ended = make(chan struct{})
		close(p.ended)
	}
	return p.ended
}

// How says how it ended, with the last line that it printed.
func (p *process) How() string {
	how := "exit status 0"
	if p.outcome != nil {
		how = p.outcome.Error()
	}
	if text, err := os.ReadFile(p.output.Name()); err == nil {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if last := lines[len(lines)-1]; last != "" {
			how += fmt.Sprintf(", %.160q", last)
		}
	}
	return how
}
