package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Whatever takes the time in which an entry may be sent, the error says that the entry is too old,
// and blames no other part. Nothing is sent, and the next entry goes.
func TestFound04_WhatTakesItsTimeIsNotTheJournal(t *testing.T) {
	const ttl = 5 * time.Second
	for name, slow := range map[string]func(r rig.Rig) []trading.Option{
		"a guard": func(rig.Rig) []trading.Option {
			first := true
			return []trading.Option{trading.WithGuard(func(context.Context, trading.Write) error {
				if first {
					time.Sleep(ttl + time.Second)
				}
				first = false
				return nil
			})}
		},
		"the function of the key": func(r rig.Rig) []trading.Option {
			first := true
			return []trading.Option{trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
				if first {
					time.Sleep(ttl + time.Second)
				}
				first = false
				return r.Sim.LiveKey(), nil
			})}
		},
		"the health": func(r rig.Rig) []trading.Option {
			r.Sim.Fault(string(trading.OpHealth), tradingsim.DelayResponse(ttl-time.Millisecond))
			return nil
		},
		"the first look": func(r rig.Rig) []trading.Option {
			r.Sim.Fault(string(trading.OpPositions), tradingsim.Hang(time.Minute))
			return []trading.Option{rig.Sole}
		},
	} {
		for _, kept := range []bool{false, true} {
			what := name
			if kept {
				what += ", with a journal"
			}
			t.Run(what, func(t *testing.T) {
				rig.LiveTest(t, nil, nil, func(r rig.Rig) {
					opts := slow(r)
					if kept {
						opts = append(opts, trading.WithJournal(journal.NewMemory()))
					}
					bot := rig.Join(r.T, r.Sim, append(opts, trading.WithAttemptTimeout(ttl))...)
					time.Sleep(6 * time.Second)
					_, err := bot.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithSendTTL(ttl))
					if err != nil {
						require.NotErrorIs(r.T, err, trading.ErrJournal)
						assert.True(r.T, errors.Is(err, trading.ErrExpired), "%v", err)
						assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
						assert.Equal(r.T, 0, bot.Sent(trading.OpOrder))
					}
					bot.Open(rig.Buy("0.05"))
				})
			})
		}
	}
}
