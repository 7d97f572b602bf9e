package trading

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What became of a paper write, where no look at the account is needed.
func TestSandboxResolveWithoutALook(t *testing.T) {
	refused := answered(400, refusalBody(CodeBadSize))
	for _, row := range []struct {
		name     string
		steps    []step
		write    func(*Client) error
		known    bool
		outcome  Outcome
		evidence Evidence
		why      string
	}{
		{"no error", nil, func(*Client) error { return nil }, true, Applied, EvidenceAnswer, ""},
		{"not of a write", nil, func(*Client) error { return errors.New("something else") }, false, 0, 0, "not the error of a write"},
		{"a refusal", []step{refused}, func(c *Client) error {
			_, err := c.Sandbox.PlaceOrder(t.Context(), testOrder())
			return err
		}, true, NotApplied, EvidenceAnswer, ""},
		{"of what shows in a read", []step{cutAfterWrite()}, func(c *Client) error {
			_, err := c.Sandbox.SetTPSL(t.Context(), "BTC", TPSL{StopLoss: At(Dec("60000"))})
			return err
		}, false, 0, 0, "read the account"},
	} {
		t.Run(row.name, func(t *testing.T) {
			service := newScript(t, row.steps...)
			client := newTestClient(t, service, WithRetry(Retry{Attempts: 1}))
			resolution, err := client.Sandbox.Resolve(t.Context(), row.write(client))
			service.done()
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
	const state, noPositions = `{"ok":true,"account":` + accountBody + `}`, `{"ok":true,"positions":[]}`
	refused := answered(http.StatusForbidden, refusalBody(CodeAPIAccessDenied))
	for name, looks := range map[string][]step{
		"the account": {refused},
		"positions":   {answered(200, state), refused},
		"trades":      {answered(200, state), answered(200, noPositions), refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := newScript(t, append([]step{cutAfterWrite()}, looks...)...)
			client := newTestClient(t, service, WithRetry(Retry{Attempts: 1}))
			_, lost := client.Sandbox.PlaceOrder(t.Context(), testOrder())
			require.Equal(t, Unknown, OutcomeOf(lost))

			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			resolution, err := client.Sandbox.Resolve(ctx, lost)
			require.ErrorIs(t, err, ErrUndetermined, name)
			require.ErrorIs(t, err, CodeAPIAccessDenied, name)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.Equal(t, Unknown, resolution.Outcome)
			service.done() // the refused key is not tried on and on
		})
	}
}
