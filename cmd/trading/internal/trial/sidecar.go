package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/tradingsim"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// pair is a bot behind a sidecar. Both are judged as one, and killed in turn: the bot, the
// sidecar, or both.
type pair struct {
	*process
	sidecar *process
	address string
	turn    uint64
}

const (
	killsBot = iota
	killsSidecar
	killsBoth
	turns
)

func (p *pair) Start() error {
	if err := p.sidecar.Start(); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return err
	}
	return p.process.Start()
}

// wait waits until the sidecar listens.
func (p *pair) wait() error {
	for range 200 {
		if c, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.address); err == nil {
			return c.Close()
		}
		select {
		case <-p.sidecar.Ended():
			return fmt.Errorf("the sidecar ended: %s", p.sidecar.How())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("the sidecar does not listen: %s", p.sidecar.How())
}

// Kill kills whose turn it is, and then both.
func (p *pair) Kill() error {
	turn := p.turn % turns
	p.turn = killsBoth
	var err error
	if turn != killsBot {
		err = p.sidecar.Kill()
	}
	if turn != killsSidecar {
		err = errors.Join(err, p.process.Kill())
	}
	return err
}

// behindSidecar puts a sidecar between a bot and its service.
func (r *Runner) behindSidecar(ctx context.Context, sim *tradingsim.Sim, bot *process, dir string, output *os.File, seed uint64) (*pair, error) {
	state, keys := filepath.Join(dir, "sidecar"), filepath.Join(dir, "sidecar.keys")
	if err := os.Mkdir(state, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(keys, []byte(sim.SandboxKey()+"\n"+sim.LiveKey()+"\n"), 0o600); err != nil {
		return nil, err
	}
	port, err := loopback.Port()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	env := slices.Concat(bot.env, []string{"XDG_STATE_HOME=" + state})
	local := func(args ...string) string {
		argv := slices.Concat(r.Command, []string{"sidecar", "keys", "add", "--state-dir", state}, args)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stderr = env, output
		text, failed := cmd.Output()
		if failed != nil {
			err = fmt.Errorf("a local key: %w: see sidecar.out, with --keep", failed)
		}
		return strings.TrimSpace(string(text))
	}
	live, paper := local("bot", "--account", judge.Account), local("paper", "--paper")
	if err != nil {
		return nil, err
	}
	serve := slices.Concat(r.Command, []string{"sidecar", "serve", "--state-dir", state, "--key-file", keys, "--listen", address, "--exclusive", judge.Account})
	side := &process{keeper: r.keeper(), argv: func() []string { return serve }, env: env, output: output}
	bot.env = slices.Concat(bot.env, []string{"TRADING_BASE_URL=http://" + address + "/v1", "TRADING_LIVE_KEY=" + live, "TRADING_SANDBOX_KEY=" + paper})
	return &pair{process: bot, sidecar: side, address: address, turn: seed}, nil
}
