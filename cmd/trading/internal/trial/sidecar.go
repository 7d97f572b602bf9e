package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// pair is a bot behind a sidecar. Both are judged as one, and killed in turn.
type pair struct {
	*process
	sidecar *process
	address string
	turn    uint64
}

func (p *pair) Start() error {
	if err := p.sidecar.Start(); err != nil {
		return err
	}
	for range 200 { // until it listens
		if c, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.address); err == nil {
			return errors.Join(c.Close(), p.process.Start())
		}
		select {
		case <-p.sidecar.Ended():
			return fmt.Errorf("the sidecar ended: %s", p.sidecar.How())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("the sidecar does not listen: %s", p.sidecar.How())
}

// Kill kills whose turn it is: the bot, the sidecar, or both.
func (p *pair) Kill() (part bool, err error) {
	turn := p.turn % 3
	p.turn++
	if turn != 0 {
		err = p.sidecar.end()
	}
	if turn != 1 {
		err = errors.Join(err, p.process.end())
	}
	return turn != 2, err
}

// behindSidecar puts a sidecar between a bot and its service, with its files in a folder.
func behindSidecar(sim *tradingsim.Sim, bot *process, dir string, seed uint64) (*pair, error) {
	state, keys := filepath.Join(dir, "sidecar"), filepath.Join(dir, "sidecar.keys")
	if err := errors.Join(os.Mkdir(state, 0o700), os.WriteFile(keys, []byte(sim.SandboxKey()+"\n"+sim.LiveKey()+"\n"), 0o600)); err != nil {
		return nil, err
	}
	live, failed := sidecar.AddKey(state, sidecar.Key{Name: "bot", Live: true, Accounts: []string{judge.Account}, May: sidecar.Trade})
	paper, err := sidecar.AddKey(state, sidecar.Key{Name: "paper", May: sidecar.Trade})
	port, none := loopback.Port()
	if err := errors.Join(failed, err, none); err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	serve := []string{bot.self, "sidecar", "serve", "--state-dir", state, "--key-file", keys, "--listen", address, "--exclusive", judge.Account}
	side := &process{
		self: bot.self, argv: func() []string { return serve }, output: filepath.Join(dir, "sidecar.out"),
		env: slices.Concat(bot.env, []string{"XDG_STATE_HOME=" + state}),
	}
	bot.env = slices.Concat(bot.env, []string{"TRADING_BASE_URL=http://" + address + "/v1", "TRADING_LIVE_KEY=" + live, "TRADING_SANDBOX_KEY=" + paper})
	return &pair{process: bot, sidecar: side, address: address, turn: seed}, nil
}
