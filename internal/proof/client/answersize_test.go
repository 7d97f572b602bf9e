package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/spec"
)

// A long list is read, and a long error is not.
func TestErrorAnswersToListReadsAreBounded(t *testing.T) {
	for _, sized := range []bool{true, false} {
		long := &endless{left: 40 << 20}
		script := rig.NewScript(t, func(*http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(long), ContentLength: -1}
			if sized {
				resp.ContentLength = 40 << 20
			}
			return resp, nil
		})
		_, err := rig.ScriptedClient(t, script).Sandbox.Trades(context.Background())
		var edge *trading.GatewayError
		require.ErrorAs(t, err, &edge)
		assert.Equal(t, "a body above 1048576 bytes", edge.Reason)
		assert.LessOrEqual(t, len(edge.Meta.Body), spec.SmallAnswer)
		assert.Less(t, 40<<20-long.left, 2*spec.SmallAnswer, "the rest is not read")
	}
	list := `{"trades":[` + strings.TrimSuffix(strings.Repeat(`{"symbol":"BTC","realizedPnL":1,"fee":1,"exitPrice":1,"orderType":"market"},`, 50_000), ",") + `]}`
	require.Greater(t, len(list), 2*spec.SmallAnswer)
	trades, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(200, list))).Sandbox.Trades(context.Background())
	require.NoError(t, err)
	assert.Len(t, trades, 50_000)
}

type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	e.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
