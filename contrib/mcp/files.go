package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

// A halt is a file, since it stands until the operator resumes.

const haltReason = "halted by a tool for language models, until the operator resumes"

func (e *Engine) haltFile() string { return filepath.Join(e.config.Dir, "halt") }

func (e *Engine) loadHalt() error {
	_, _, err := disk.Read(e.haltFile(), mostBytes, disk.NoWrite)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	e.halted = true
	e.client.Halt(haltReason)
	return nil
}

// halt refuses entries at once, ends all tickets, and then notes it down.
func (e *Engine) halt() error {
	stop := func() {
		e.client.Halt(haltReason)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.halted = true
		for _, t := range e.tickets {
			t.end("halted")
		}
	}
	stop()
	e.haltMu.Lock()
	defer e.haltMu.Unlock()
	stop() // also after a resume that was waited for
	return disk.Replace(e.haltFile(), []byte(haltReason), true)
}

// Resume ends a halt. It is the operator's: no tool calls it.
func (e *Engine) Resume() error {
	e.haltMu.Lock()
	defer e.haltMu.Unlock()
	if err := disk.Remove(e.haltFile()); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.halted = false
	e.client.Resume()
	return nil
}

func (e *Engine) peakFile() string { return filepath.Join(e.config.Dir, "peaks") }

func (e *Engine) loadPeaks() error {
	data, _, err := disk.Read(e.peakFile(), mostBytes, disk.NoWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &e.peaks)
	}
	return err
}

func (e *Engine) savePeaks() error {
	data, err := json.Marshal(e.peaks)
	if err != nil {
		return err
	}
	return disk.Replace(e.peakFile(), data, true)
}

// marketsFor is how long the list of markets is believed.
const marketsFor = time.Minute

// list is the list of markets, from a cache.
func (e *Engine) list(ctx context.Context) ([]trading.Market, error) {
	e.mu.Lock()
	all, fresh := e.markets, e.markets != nil && !e.now().past(e.marketAt, marketsFor)
	e.mu.Unlock()
	if fresh {
		return all, nil
	}
	all, err := e.client.Sandbox.Markets(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.markets, e.marketAt = all, e.now()
	return all, nil
}

// market is one of them. Without a sandbox key there is no list, and nothing is known of it.
func (e *Engine) market(ctx context.Context, symbol string) (trading.Opt[trading.Market], *refusal) {
	all, err := e.list(ctx)
	switch {
	case errors.Is(err, trading.CodeMissingAPIKey):
		return trading.Opt[trading.Market]{}, nil
	case err != nil:
		return trading.Opt[trading.Market]{}, unread(err)
	}
	for _, m := range all {
		if m.Symbol == symbol {
			return trading.Some(m), nil
		}
	}
	return trading.Opt[trading.Market]{}, refuse("bad_symbol", "There is no such market. Call markets, and give the symbol exactly as it stands there.")
}

func environment(account trading.AccountID) trading.Environment {
	if account == "" {
		return trading.EnvSandbox
	}
	return trading.EnvLive
}

func intentOf(err error) trading.IntentID {
	var failed *trading.WriteError
	if errors.As(err, &failed) {
		return failed.Intent
	}
	return ""
}
