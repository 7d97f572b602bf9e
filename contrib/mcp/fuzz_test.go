package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read strictly is JSON with each member once, and what the arguments hold is plain.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, ``, `{"symbol":"BTC","side":"long","size":"0.1","state":"s_1"}`, `{"size":"1","Size":"2"}`, `{"size":"1e9"}`, `{"size":"01"}`, `{"size":1}`,
		`{"size":" 1"}`, `{"size":"-1"}`, `{"size":"9999999999999999999999999"}`, `{"state":"a\nb"}`, `{"x":"y"}`, `[[[]]]`, `{"size":null}`, `{"size":"1"}{"size":"2"}`, `{"size":"1","size":"2"}`,
	} {
		f.Add([]byte(seed))
	}
	fields := append([]field{{name: "levels", kind: price}, {name: "query", kind: free}}, orderFields...)
	f.Fuzz(func(t *testing.T, data []byte) {
		a, r := decode(data, fields, orderExample)
		if r != nil {
			assert.Equal(t, []string{"bad_argument", "not_applied"}, []string{r.Code, r.Outcome})
			assert.NotEmpty(t, r.Advice)
			return
		}
		for _, name := range []string{"symbol", "side", "size", "state"} {
			assert.NotEmpty(t, a[name])
		}
		assert.Regexp(t, `^(0|[1-9][0-9]*)(\.[0-9]+)?$`, a["size"])
		assert.LessOrEqual(t, len(a["size"]), mostDigits)
		assert.Contains(t, sides, a["side"])
		assert.Regexp(t, plainName, a["symbol"])
	})
}

// A policy that is read bounds what it names, and one that is not strict is refused.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{livePolicy, `{}`, `{"accounts":["a"],"accounts":["b"]}`, `{"max_leverage":5}`, `{"max_leverage":"-5"}`, `{"hours":"25:00-26:00"}`, `{"hours":"22:00-06:00"}`, `{"unknown":1}`, `{"kinds":["all"]}`, `{"entries_per_hour":-1}`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePolicy(data, Live)
		if err != nil {
			return
		}
		assert.NotEmpty(t, p.Accounts)
		for _, limit := range []*dollars{p.OrderNotional, p.PositionSize, p.DayNotional, p.Leverage} {
			require.NotNil(t, limit)
			assert.False(t, limit.IsNegative())
		}
		assert.GreaterOrEqual(t, *p.EntriesPerHour, 0)
	})
}

// Whatever a host writes, each line is a message or is answered, and no line ends the server.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"{}\n", "garbage\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", "\n\n", "[]", strings.Repeat("[", 100) + "\n", `{"jsonrpc":"2.0","id":{},"method":1}` + "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out := &output{}
		c, err := (&lines{bytes.NewReader(data), out}).Connect(t.Context())
		require.NoError(t, err)
		messages := 0
		for {
			m, err := c.Read(context.Background())
			if err != nil {
				require.True(t, errors.Is(err, io.EOF), "%v", err)
				break
			}
			messages++
			require.NotNil(t, m)
		}
		asked := 0
		for _, line := range strings.SplitAfter(string(data), "\n") {
			if strings.HasSuffix(line, "\n") && len(line) > 1 {
				asked++
			}
		}
		assert.Equal(t, asked, messages+strings.Count(out.String(), parseError))
		for line := range strings.Lines(out.String()) {
			assert.True(t, json.Valid([]byte(line)))
		}
	})
}

type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }
