package sidecar

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/ratelimit"
)

// protection keeps accounts above their loss floors: it judges the entries of all bots, and
// flattens in time, by a client of its own on the same journal and the same rate limits.
type protection struct {
	*protect.Protection
	client *trading.Client
}

// protect makes the protection, and returns the options by which the bots' client obeys it. There
// may be none: then the protection is nil.
func (s *Server) protect() (*protection, []trading.Option, error) {
	o := s.config.Protect
	shared := trading.WithRateLimits(trading.RateLimits{Store: ratelimit.NewMemoryStore(), Owner: "sidecar", ReservePct: keptForExits})
	if len(o.Accounts) == 0 {
		return nil, []trading.Option{shared}, nil
	}
	client, err := trading.New(s.config.BaseURL, append([]trading.Option{shared}, s.options()...)...)
	if err != nil {
		return nil, nil, err
	}
	o.Client = client
	if o.Dir == "" {
		o.Dir = filepath.Join(s.config.Dir, "protect")
	}
	p, err := protect.New(o)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return &protection{p, client}, []trading.Option{shared, trading.WithGuard(p.Guard()), trading.WithHooks(p.Hooks())}, nil
}

// has reports whether it watches an account.
func (p *protection) has(account trading.AccountID) bool {
	return p != nil && slices.Contains(p.Accounts(), account)
}

// run watches the accounts until ctx ends.
func (p *protection) run(ctx context.Context, alert func(string)) {
	if err := p.Run(ctx); err != nil && ctx.Err() == nil {
		alert("the protection has ended, and entries are refused: " + err.Error())
	}
}

// report alerts of what happens to the accounts.
func (p *protection) report(ctx context.Context, alert func(string)) {
	for event := range p.Events(ctx) {
		switch {
		case event.Kind == protect.Refused: // its bot is answered why
		case event.Kind == protect.Changed && event.From == protect.Starting && event.To == protect.OK: // as after each start
		default:
			alert(event.String())
		}
	}
}

// Close ends it, once run has returned.
func (p *protection) Close() error {
	if p == nil {
		return nil
	}
	err := p.Protection.Close()
	if left := p.client.Close(); !errors.As(left, new(*trading.PendingError)) {
		err = errors.Join(err, left)
	}
	return err
}
