package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	for _, text := range []string{
		`""`, `"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\u00E9\u20ac"`, `"é€😀"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`,
		`"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`,
		"\"\xff\"", "\"a\xe2\x82\"", "\"\xed\xa0\xbd\"", "\"\x7f\u2028\"", `"\u0000"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(text), &want), text)
		d := NewDecoder([]byte(text))
		assert.Equal(t, want, d.Text(), text)
		require.NoError(t, d.Finish(), text)
	}
	for _, text := range []string{`"`, `"\`, `"\"`, `"\u"`, `"\u12"`, `"\u123g"`, `"\U0041"`, `"\a"`, `"\'"`, "\"\x1f\"", "\"\n\"", `'a'`} {
		require.False(t, json.Valid([]byte(text)), text)
		d := NewDecoder([]byte(text))
		assert.Empty(t, d.Text(), text)
		assert.Error(t, d.Finish(), text)
	}
}

// The words that answers are full of cost nothing.
func TestText_CommonWords(t *testing.T) {
	for _, word := range []string{
		"long", "short", "market", "limit", "stop_loss", "take_profit", "opened", "sandbox", "live", "healthy",
		"active", "ACTIVE", "FUNDED", "BTC", "ETH", "",
	} {
		data := []byte(`"` + word + `"`)
		d := NewDecoder(nil)
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			*d = Decoder{input: data, data: data}
			if d.Text() != word {
				t.Error(word)
			}
		}), word)
	}
}
