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
	self   string          // this command
	argv   func() []string // of the next life
	env    []string
	output string // the file of what it prints
	kill   string // a command of the shell that kills what is not below us, such as a container
	stdin  io.Closer
	ended  chan struct{}
	err    error // how it ended
}

// Start starts it, where it does not run: a bot may outlive its sidecar.
func (p *process) Start() error {
	select {
	case <-p.Ended():
	default:
		return nil
	}
	output, err := os.OpenFile(p.output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()                                                      // the program has its own
	cmd := exec.CommandContext(context.Background(), p.self, slices.Concat(keep, p.argv())...) // it ends with its stdin
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, output, output
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.ended = ended
	go func() {
		defer close(ended)
		p.err = cmd.Wait()
	}()
	return nil
}

func (p *process) Kill() (part bool, err error) { return false, p.end() }

func (p *process) end() (err error) {
	if p.stdin == nil { // it has not begun, or is dead
		return nil
	}
	_ = p.stdin.Close() // it is closed where the program has ended
	p.stdin = nil
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
	text, _ := os.ReadFile(p.output) // nothing where it cannot be read
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Sprintf("%s, %.160q", how, lines[len(lines)-1])
}
