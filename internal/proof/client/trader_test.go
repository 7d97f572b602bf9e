package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// What became of a paper write, where no look at the account is needed.
func TestSandboxResolveWithoutALook(t *testing.T) {
	refused := rig.Answered(400, rig.RefusalBody(trading.CodeBadSize))
	for _, row := range []struct {
		name     string
		steps    []rig.Step
		write    func(*trading.Client) error
		known    bool
		outcome  trading.Outcome
		evidence trading.Evidence
		why      string
	}{
		{"no error", nil, func(*trading.Client) error { return nil }, true, trading.Applied, trading.EvidenceAnswer, ""},
		{"not of a write", nil, func(*trading.Client) error { return errors.New("something else") }, false, 0, 0, "not the error of a write"},
		{"a refusal", []rig.Step{refused}, func(c *trading.Client) error {
			_, err := c.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
			return err
		}, true, trading.NotApplied, trading.EvidenceAnswer, ""},
		{"of what shows in a read", []rig.Step{rig.CutAfterWrite()}, func(c *trading.Client) error {
			_, err := c.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{StopLoss: trading.At(trading.Dec("60000"))})
			return err
		}, false, 0, 0, "read the account"},
	} {
		t.Run(row.name, func(t *testing.T) {
			service := rig.NewScript(t, row.steps...)
			client := rig.ScriptedClient(t, service, trading.WithRetry(trading.Retry{Attempts: 1}))
			resolution, err := client.Sandbox.Resolve(t.Context(), row.write(client))
			service.Done()
			if !row.known {
				require.ErrorContains(t, err, row.why)
				assert.Nil(t, resolution)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.outcome, resolution.Outcome)
			assert.Equal(t, row.evidence, resolution.Evidence)
		})
	}
}

// A paper write stays in doubt while the account cannot be read, for as long as its
// caller waits.
func TestSandboxResolveThatCannotLook(t *testing.T) {
	const state, noPositions = `{"ok":true,"account":` + rig.AccountBody + `}`, `{"ok":true,"positions":[]}`
	refused := rig.Answered(http.StatusForbidden, rig.RefusalBody(trading.CodeAPIAccessDenied))
	for name, looks := range map[string][]rig.Step{
		"the account": {refused},
		"positions":   {rig.Answered(200, state), refused},
		"trades":      {rig.Answered(200, state), rig.Answered(200, noPositions), refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := rig.NewScript(t, append([]rig.Step{rig.CutAfterWrite()}, looks...)...)
			client := rig.ScriptedClient(t, service, trading.WithRetry(trading.Retry{Attempts: 1}))
			_, lost := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(lost))

			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			resolution, err := client.Sandbox.Resolve(ctx, lost)
			require.ErrorIs(t, err, trading.ErrUndetermined, name)
			require.ErrorIs(t, err, trading.CodeAPIAccessDenied, name)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.Equal(t, trading.Unknown, resolution.Outcome)
			service.Done() // the refused key is not tried on and on
		})
	}
}
