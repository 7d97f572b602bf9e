package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
)

// gatherer reads what status and top show. A read that fails is noted, and the others
// go on: half a picture is better than none.
type gatherer struct {
	service  *cli.Service
	client   *trading.Client
	journals []string
	stateDir string // of a protection; empty for none
}

// gather reads everything once.
func (g gatherer) gather(ctx context.Context) statusView {
	s := statusView{BaseURL: g.service.BaseURL(), Environment: g.service.Env, Accounts: []accountView{}, Pending: []pendingView{}, Limits: []limitView{}}
	var all sync.WaitGroup
	var healthErr error
	all.Go(func() { s.Health, healthErr = readHealth(ctx, g.client) })
	accountsErr := g.accounts(ctx, &s)
	all.Wait()
	var pendingErr error
	s.Pending, pendingErr = readPending(g.journals)
	s.unread = pendingErr != nil
	s.note("health", healthErr)
	s.note("accounts", accountsErr)
	s.note("pending writes", pendingErr)
	s.note("rate limits", g.limits(ctx, &s))
	s.At = time.Now()
	s.Findings = s.judge()
	return s
}

func (s *statusView) note(what string, err error) {
	if err != nil {
		s.Errors = append(s.Errors, what+": "+oneLine(err))
	}
}

func oneLine(err error) string { return cli.Printable(strings.ReplaceAll(err.Error(), "\n", "; ")) }

func readHealth(ctx context.Context, client *trading.Client) (*healthView, error) {
	h, err := client.Health(ctx)
	if err != nil {
		return nil, err
	}
	return &healthView{h.Safe(), h.Status, h.Feed, h.AsOf, h.Old(), h.Age}, nil
}

// accounts reads the accounts side by side.
func (g gatherer) accounts(ctx context.Context, s *statusView) error {
	handles, archived, err := traders(ctx, g.service, g.client)
	if err != nil {
		return err
	}
	s.Archived = archived
	s.Accounts = make([]accountView, len(handles))
	var all sync.WaitGroup
	for i, h := range handles {
		all.Go(func() {
			s.Accounts[i] = readAccount(ctx, h)
			s.Accounts[i].readProtection(g.stateDir)
		})
	}
	all.Wait()
	return nil
}

// handle is an account to be read; live is nil for the paper account.
type handle struct {
	trading.Trader
	id   trading.AccountID
	live *trading.Account
}

// traders returns the accounts that the flags name: one, the paper account, or every live
// account that is not archived.
func traders(ctx context.Context, service *cli.Service, client *trading.Client) (handles []handle, archived int, err error) {
	switch {
	case service.Env == trading.EnvSandbox:
		return []handle{{client.Sandbox, "", nil}}, 0, nil
	case service.Account != "":
		a := client.Live.Account(service.Account)
		return []handle{{a, a.ID(), a}}, 0, nil
	}
	infos, err := client.Live.Accounts(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, info := range infos {
		if info.Archived {
			archived++
			continue
		}
		a := client.Live.Account(info.ID)
		handles = append(handles, handle{a, a.ID(), a})
	}
	return handles, archived, nil
}

// readAccount reads what waits before the positions, so that a limit which fills in
// between is seen at least once.
func readAccount(ctx context.Context, h handle) accountView {
	v := accountView{ID: h.id, ReadAt: time.Now(), Positions: []positionView{}, Orders: []orderView{}, Runs: []runView{}}
	note := func(what string, err error) {
		if err != nil {
			v.Errors = append(v.Errors, what+": "+oneLine(err))
		}
	}
	if h.live != nil {
		v.Environment = trading.EnvLive
		open, err := h.live.OpenOrders(ctx)
		note("orders", err)
		if err == nil {
			for _, o := range open.Limits {
				v.Orders = append(v.Orders, viewOrder(h.id, o))
			}
			for _, r := range open.Runs {
				v.Runs = append(v.Runs, viewRun(h.id, r, false))
			}
		}
	}
	positions, err := h.Positions(ctx)
	note("positions", err)
	state, stateErr := h.State(ctx)
	note("state", stateErr)
	if stateErr == nil {
		v.setState(state)
	}
	if err == nil {
		v.setPositions(positions)
	}
	return v
}

// readProtection reads what the protection that uses the folder says of a live account.
func (v *accountView) readProtection(dir string) {
	if dir == "" || v.Environment != trading.EnvLive {
		return
	}
	status, err := protect.ReadStatus(dir, v.ID)
	if err != nil {
		v.Errors = append(v.Errors, "protection: "+oneLine(err))
		return
	}
	p := viewProtection(status)
	v.Protection = &p
}

// limits are those that something was taken of, or that are closed.
func (g gatherer) limits(ctx context.Context, s *statusView) error {
	usage, err := g.client.RateLimitUsage(ctx)
	if err != nil {
		return err
	}
	for _, u := range usage {
		if u.Used == 0 && u.Closed == 0 {
			continue
		}
		s.Limits = append(s.Limits, limitView{u.Bucket.Name, u.Bucket.Limit, u.Left, int((u.Closed + time.Second - 1) / time.Second)})
	}
	return nil
}

// readPending lists the pending writes of journals, oldest first in each. The program
// that has a journal open is not disturbed.
func readPending(journals []string) ([]pendingView, error) {
	pending := []pendingView{}
	for _, path := range journals {
		for w, err := range trading.ReadJournal(path) {
			if err != nil {
				return pending, fmt.Errorf("%s: %w", path, err)
			}
			if w.Pending {
				pending = append(pending, viewPending(path, w))
			}
		}
	}
	return pending, nil
}
