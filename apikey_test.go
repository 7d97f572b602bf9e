package trading

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRotatedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = "pk_test_secondSecret"
		var key atomic.Value
		key.Store(testSandboxKey)
		asked := 0
		trades := answered(200, `{"ok":true,"trades":[]}`)
		script := newScript(t,
			answered(500, refusalBody(CodeInternalError)), trades,
			answered(401, refusalBody(CodeRevokedAPIKey)), trades)
		client := newTestClient(t, script, WithSandboxKeyFunc(func(context.Context) (string, error) {
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
		got := script.received()
		assert.Equal(t, testSandboxKey, got[0].header.Get("X-API-Key"))
		assert.Equal(t, second, got[1].header.Get("X-API-Key"))

		// A refused key is held back, and a rotated one starts clean.
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, CodeRevokedAPIKey)
		_, err = client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, CodeRevokedAPIKey)
		key.Store(testSandboxKey)
		_, err = client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		script.done()
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
		"empty":       {"", nil, CodeMissingAPIKey},
		"the other's": {testLiveKey, nil, CodeWrongEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			client := newTestClient(t, newScript(t), WithHealthGate(HealthGate{Off: true}),
				WithSandboxKeyFunc(func(context.Context) (string, error) { return row.key, row.err }))
			_, err := client.Sandbox.PlaceOrder(context.Background(), testOrder())
			require.ErrorIs(t, err, row.is)
			assert.Equal(t, NotApplied, OutcomeOf(err))
			assertNoKey(t, "the error", outputs(err))
		})
	}
}

// An answer can repeat the key of an attempt before a rotation.
func TestTheKeyBeforeARotationIsNotPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var key atomic.Value
		key.Store(testSandboxKey)
		script := newScript(t,
			answered(200, `{"ok":true,"trades":[]}`),
			answered(502, "<html>"+testSandboxKey+" was seen before "+"</html>"))
		client := newTestClient(t, script, WithRetry(Retry{Attempts: 1}), WithSandboxKeyFunc(func(context.Context) (string, error) {
			return key.Load().(string), nil
		}))
		_, err := client.Sandbox.Trades(context.Background())
		require.NoError(t, err)
		key.Store("pk_test_secondSecret")
		_, err = client.Sandbox.Trades(context.Background())
		require.ErrorContains(t, err, "[redacted] was seen before")
		assertNoKey(t, "the error", outputs(err))
		script.done()
	})
}
