package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleSetting() {
	fmt.Println(On, Number(Dec("1.50")), Text("linear"), Setting{})
	// Output: true 1.5 "linear" absent
}

func TestSettingJSON(t *testing.T) {
	for text, want := range map[string]Setting{
		`null`:             {},
		`true`:             On,
		`false`:            Off,
		`1.50`:             Number(Dec("1.5")),
		`-2e3`:             Number(Dec("-2000")),
		`""`:               Text(""),
		`"a \"b\" \u00e9"`: Text(`a "b" é`),
	} {
		var s Setting
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		assert.True(t, s == want, "%s was read as %v", text, s)
		assert.True(t, s.valid())

		again, err := json.Marshal(s)
		require.NoError(t, err)
		var back Setting
		require.NoError(t, json.Unmarshal(again, &back))
		assert.Equal(t, s, back)
	}
	for _, text := range []string{`{}`, `[1]`, `1e999999999`} {
		s := On
		assert.Error(t, json.Unmarshal([]byte(text), &s), text)
		assert.True(t, s.IsZero())
	}
}

func TestSettingIsOneScalarWhateverTheText(t *testing.T) {
	for _, s := range []string{`"`, `\`, "true", "\x00\n", "</script>", `","injected":"`, "\xff"} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(Text(s).String()), &v))
		assert.IsType(t, "", v, s)
	}
}

func TestSettingTooLongForTheWire(t *testing.T) {
	for _, d := range unwritable {
		assert.False(t, Number(d).valid())
		assert.False(t, Number(d).IsZero(), "it is refused and not left out")
		_, err := json.Marshal(Number(d))
		assert.ErrorIs(t, err, errUnwritable)
	}
}

func TestSettingLeftOut(t *testing.T) {
	text, err := json.Marshal(struct {
		A, B Setting `json:",omitzero"`
	}{B: Off})
	require.NoError(t, err)
	assert.Equal(t, `{"B":false}`, string(text))
}
