package wire

import (
	"bytes"
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

// A body is shown cut between runes, whatever it is made of.
func TestBodyIsCutBetweenRunes(t *testing.T) {
	assert.Equal(t, "a", CutText("aé", 2))
	assert.Empty(t, CutText("é", 1))
	assert.Equal(t, "… (1000 bytes)", Body(bytes.Repeat([]byte{0x80}, 1000)).String())
}

// A short text that was read a moment ago costs nothing, in the next answer too.
func TestText_Recent(t *testing.T) {
	data := []byte(`{"side":"long","type":"market","text":"take_profit","state":"ACTIVE","symbol":"BTC","none":""}`)
	d := NewDecoder(nil)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		*d = Decoder{input: data, data: data, recent: d.recent}
		var last string
		for d.Object(); d.Member(); {
			last = d.Text()
		}
		if last != "" || d.Err() != nil {
			t.Error(last, d.Err())
		}
	}))
}
