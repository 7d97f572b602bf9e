package trading

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What became of a paper write, where looking cannot tell or need not.
func TestSandboxResolveWithoutALook(t *testing.T) {
	refused := answered(400, refusalBody(CodeBadSize))
	for _, row := range []struct {
		name    string
		steps   []step
		write   func(*Client) error
		opts    []CallOption
		outcome Outcome
		basis   Basis
		why     string
	}{
		{"no error", nil, func(*Client) error { return nil }, nil, Applied, BasisAnswer, ""},
		{"not of a write", nil, func(*Client) error { return errors.New("something else") }, nil, 0, 0, "not the error of a write"},
		{"a refusal", []step{refused}, func(c *Client) error {
			_, err := c.Sandbox.PlaceOrder(t.Context(), testOrder())
			return err
		}, nil, NotApplied, BasisAnswer, ""},
		{"of what shows in a read", []step{cutAfterWrite()}, func(c *Client) error {
			_, err := c.Sandbox.SetTriggers(t.Context(), "BTC", Triggers{StopLoss: At(Dec("60000"))})
			return err
		}, nil, 0, 0, "shows in a read"},
		{"nothing was read before", []step{cutAfterWrite()}, func(c *Client) error {
			_, err := c.Sandbox.PlaceOrder(t.Context(), testOrder())
			return err
		}, nil, Unknown, BasisNone, "read positions and trades first"},
	} {
		t.Run(row.name, func(t *testing.T) {
			service := newScript(t, row.steps...)
			client := newTestClient(t, service, WithRetry(Retry{Attempts: 1}))
			verdict, err := client.Sandbox.Resolve(t.Context(), row.write(client), row.opts...)
			service.done()
			if row.why != "" {
				require.ErrorContains(t, err, row.why)
			} else {
				require.NoError(t, err)
			}
			if row.outcome == 0 && row.basis == 0 && row.why != "read positions and trades first" {
				assert.Nil(t, verdict)
				return
			}
			assert.Equal(t, row.outcome, verdict.Outcome)
			assert.Equal(t, row.basis, verdict.Basis)
		})
	}
}

// A paper write stays in doubt while the account cannot be read, and an option that
// is wrong is told before anything is read.
func TestSandboxResolveThatCannotLook(t *testing.T) {
	const noPositions, noTrades = `{"ok":true,"positions":[]}`, `{"ok":true,"trades":[]}`
	refused := answered(http.StatusForbidden, refusalBody(CodeAPIAccessDenied))
	for name, looks := range map[string][]step{
		"positions": {refused},
		"trades":    {answered(200, noPositions), refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			steps := append([]step{answered(200, noPositions), answered(200, noTrades), cutAfterWrite()}, looks...)
			service := newScript(t, steps...)
			client := newTestClient(t, service, WithRetry(Retry{Attempts: 1}))
			ctx := t.Context()
			_, err := client.Sandbox.Positions(ctx)
			require.NoError(t, err)
			_, err = client.Sandbox.Trades(ctx)
			require.NoError(t, err)
			_, lost := client.Sandbox.PlaceOrder(ctx, testOrder())
			require.Equal(t, Unknown, OutcomeOf(lost))

			_, err = client.Sandbox.Resolve(ctx, lost, nil)
			require.ErrorContains(t, err, "nil option")

			verdict, err := client.Sandbox.Resolve(ctx, lost)
			require.ErrorIs(t, err, ErrUndetermined, name)
			require.ErrorIs(t, err, CodeAPIAccessDenied, name)
			assert.Equal(t, Unknown, verdict.Outcome)
			service.done()
		})
	}
}
