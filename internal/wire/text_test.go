package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
