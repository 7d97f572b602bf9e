package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const oneLeg = `{"symbol":"BTC","size":1}`

// unmarshalLegs reads a list of legs, which are converted into themselves.
func unmarshalLegs(data []byte) ([]leg, error) {
	rows := Rows[leg, leg, *leg]{Member: "legs", Bare: true, Convert: func(l *leg) leg { return *l }}
	err := Unmarshal(data, &rows)
	return rows.List, err
}

func TestRows(t *testing.T) {
	for data, want := range map[string]int{
		`[]`: 0, ` [` + oneLeg + `] `: 1, `{"legs":[` + oneLeg + `,` + oneLeg + `],"next":{"a":1}}`: 2,
	} {
		list, err := unmarshalLegs([]byte(data))
		require.NoError(t, err, data)
		assert.NotNil(t, list)
		assert.Len(t, list, want, data)
	}
	for data, want := range map[string]Problem{
		``: Truncated, `null`: UnexpectedNull, `"legs"`: WrongType, `{}`: Missing, `{"Legs":[]}`: Missing,
		`{"legs":null}`: UnexpectedNull, `{"legs":[],"legs":[]}`: Duplicate, `[` + oneLeg: Truncated,
		`[] []`: TrailingData, `[null]`: UnexpectedNull, `[{}]`: Missing, `{"legs":[],"x":}`: Syntax,
	} {
		list, err := unmarshalLegs([]byte(data))
		var wireErr *JSONError
		require.ErrorAs(t, err, &wireErr, data)
		assert.Equal(t, want, wireErr.Problem, data)
		assert.Empty(t, list)
	}
	// A list that comes bare is read only where it may.
	rows := Rows[leg, string, *leg]{Member: "legs", Convert: func(l *leg) string { return l.Symbol }}
	require.Error(t, Unmarshal([]byte(`[`+oneLeg+`]`), &rows))
	assert.Nil(t, rows.List)
}

func TestEither(t *testing.T) {
	for _, data := range []string{oneLeg, `{"ok":true,"leg":` + oneLeg + `}`, `{"symbol":"BTC","size":1,"leg":"a name"}`} {
		var v leg
		require.NoError(t, Unmarshal([]byte(data), &Either{"leg", &v}), data)
		assert.Equal(t, "BTC", v.Symbol)
	}
	for data, want := range map[string]Problem{
		``: Truncated, `[]`: WrongType, `{"leg":{}}`: Missing, `{"leg":null}`: Missing,
		`{"leg":` + oneLeg + `,"leg":` + oneLeg + `}`: Duplicate, `{"leg":` + oneLeg: Truncated,
	} {
		var wireErr *JSONError
		require.ErrorAs(t, Unmarshal([]byte(data), &Either{"leg", &leg{}}), &wireErr, data)
		assert.Equal(t, want, wireErr.Problem, data)
	}
}

func TestMembers(t *testing.T) {
	var m Members
	require.NoError(t, Unmarshal([]byte(`{"success":true,"note":[1]}`), &m))
	assert.Equal(t, Members{"success": []byte("true"), "note": []byte("[1]")}, m)
	require.NoError(t, Unmarshal([]byte(`{}`), &m))
	assert.Empty(t, m, "what it held before is gone")
	for _, data := range []string{``, `null`, `[]`, `{"a":1,"a":2}`, `{"a":}`} {
		var wireErr *JSONError
		require.ErrorAs(t, Unmarshal([]byte(data), &m), &wireErr, data)
	}
}
