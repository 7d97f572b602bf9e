package client

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

func TestRotatedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = "pk_test_secondSecret"
		var key atomic.Value
		key.Store(rig.SandboxKey)
		asked := 0
		trades := rig.Answered(200, `{"ok":true,"trades":[]}`)
		script := rig.NewScript(t,
			rig.Answered(500, rig.RefusalBody(trading.CodeInternalError)), trades,
			rig.Answered(401, rig.RefusalBody(trading.CodeRevokedAPIKey)), trades)
		client := rig.ScriptedClient(t, script, trading.WithSandboxKeyFunc(func(context.Context) (string, error) {
			asked++
			return key.Load().(string), nil
		}))
		ctx := context.Background()

		// Rotated between an attempt and the next.
		go func() {
			time.Sleep(time.Millisecond)
			key.Store(second)
		}()
		_, err := client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		assert.Equal(t, 2, asked, "once an attempt")
		got := script.Received()
		assert.Equal(t, rig.SandboxKey, got[0].Header.Get("X-API-Key"))
		assert.Equal(t, second, got[1].Header.Get("X-API-Key"))

		// A refused key is held back, and a rotated one starts clean.
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		key.Store(rig.SandboxKey)
		_, err = client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		script.Done()
	})
}

func TestAKeyThatCannotBeHad(t *testing.T) {
	vault := errors.New("the vault is sealed")
	for name, row := range map[string]struct {
		key string
		err error
		is  error
	}{
		"no answer":   {"", vault, vault},
		"empty":       {"", nil, trading.CodeMissingAPIKey},
		"the other's": {rig.LiveKey, nil, trading.CodeWrongEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			client := rig.ScriptedClient(t, rig.NewScript(t), trading.WithHealthGate(trading.HealthGate{Off: true}),
				trading.WithSandboxKeyFunc(func(context.Context) (string, error) { return row.key, row.err }))
			_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
			require.ErrorIs(t, err, row.is)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			assertNoKey(t, "the error", outputs(err))
		})
	}
}

// An answer can repeat the key of an attempt before a rotation.
func TestTheKeyBeforeARotationIsNotPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var key atomic.Value
		key.Store(rig.SandboxKey)
		script := rig.NewScript(t,
			rig.Answered(200, `{"ok":true,"trades":[]}`),
			rig.Answered(502, "<html>"+rig.SandboxKey+" was seen before "+"</html>"))
		client := rig.ScriptedClient(t, script, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithSandboxKeyFunc(func(context.Context) (string, error) {
			return key.Load().(string), nil
		}))
		_, err := client.Sandbox.Trades(context.Background())
		require.NoError(t, err)
		key.Store("pk_test_secondSecret")
		_, err = client.Sandbox.Trades(context.Background())
		require.ErrorContains(t, err, "[redacted] was seen before")
		assertNoKey(t, "the error", outputs(err))
		script.Done()
	})
}
