package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseKeys(t *testing.T) {
	k, err := parseKeys("f", "# mine\r\n\npk_test_a\r\nTRADING_LIVE_KEY=pk_live_b=")
	require.NoError(t, err)
	assert.Equal(t, keys{"pk_test_a", "pk_live_b="}, k)
}

// Whatever is in the file, an error does not repeat it, and a key is of its environment.
func FuzzKeys(f *testing.F) {
	f.Add("pk_test_a\npk_live_b")
	f.Add("TRADING_LIVE_KEY=pk_live_b=\n# x")
	f.Add("TRADING_LIVE_KEY=pk_test_b\npk_test_c")
	f.Add("key with spaces and \x1b[31m colour")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseKeys("f", text)
		if err != nil {
			assert.Equal(t, Usage, Status(err))
			for _, line := range strings.Split(text, "\n") {
				if line = strings.TrimSpace(line); len(line) > 40 {
					assert.NotContains(t, err.Error(), line)
				}
			}
			return
		}
		assert.True(t, k.sandbox == "" || strings.HasPrefix(k.sandbox, sandboxPrefix))
		assert.True(t, k.live == "" || strings.HasPrefix(k.live, livePrefix))
		assert.True(t, k.sandbox != "" || k.live != "")
		assert.True(t, looksLikeKey(k.sandbox+k.live))
	})
}

// A number is what it says, digit for digit, or refused.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"0.05", "-1", "1e9", "1_000", "+2", ".5", "5.", "", "0x1", "NaN", "000.10"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseNumber(text)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(text), 40)
		assert.Empty(t, strings.Trim(text, "-.0123456789"), "only digits, a sign and a point")
		again, err := ParseNumber(d.String())
		require.NoError(t, err)
		assert.True(t, d.Equal(again))
	})
}

func TestDollars(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0.00", "-0.004": "0.00", "0.005": "0.01", "999.999": "1,000.00", "-1234567.8": "-1,234,567.80", "1000": "1,000.00", "100": "100.00",
	} {
		d, err := ParseNumber(text)
		require.NoError(t, err)
		assert.Equal(t, want, Dollars(d), text)
	}
}

func TestPrintable(t *testing.T) {
	assert.Equal(t, `"\x1b[31m"`, Printable("\x1b[31m"))
	assert.Equal(t, "a b", Printable("a b"))
	assert.Equal(t, "a\n\"\\x1b\"", PrintableLines("a\n\x1b"))
}
