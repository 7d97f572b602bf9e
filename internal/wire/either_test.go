package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const oneLeg = `{"symbol":"BTC","size":1}`

func TestUnmarshalList(t *testing.T) {
	for data, want := range map[string]int{
		`[]`: 0, ` [` + oneLeg + `] `: 1, `{"legs":[` + oneLeg + `,` + oneLeg + `],"next":{"a":1}}`: 2,
	} {
		list, err := UnmarshalList[leg]([]byte(data), "legs")
		require.NoError(t, err, data)
		assert.NotNil(t, list)
		assert.Len(t, list, want, data)
	}
	for data, want := range map[string]Problem{
		``: Truncated, `null`: UnexpectedNull, `"legs"`: WrongType, `{}`: Missing, `{"Legs":[]}`: Missing,
		`{"legs":null}`: UnexpectedNull, `{"legs":[],"legs":[]}`: Duplicate, `[` + oneLeg: Truncated,
		`[] []`: TrailingData, `[null]`: UnexpectedNull, `[{}]`: Missing, `{"legs":[],"x":}`: Syntax,
	} {
		list, err := UnmarshalList[leg]([]byte(data), "legs")
		var wireErr *Error
		require.ErrorAs(t, err, &wireErr, data)
		assert.Equal(t, want, wireErr.Problem, data)
		assert.Empty(t, list)
	}
}

func TestUnmarshalRecord(t *testing.T) {
	for _, data := range []string{oneLeg, `{"ok":true,"leg":` + oneLeg + `}`, `{"symbol":"BTC","size":1,"leg":"a name"}`} {
		var v leg
		require.NoError(t, UnmarshalRecord([]byte(data), "leg", &v), data)
		assert.Equal(t, "BTC", v.Symbol)
	}
	for data, want := range map[string]Problem{
		``: Truncated, `[]`: WrongType, `{"leg":{}}`: Missing, `{"leg":null}`: Missing,
		`{"leg":` + oneLeg + `,"leg":` + oneLeg + `}`: Duplicate, `{"leg":` + oneLeg: Truncated,
	} {
		var wireErr *Error
		require.ErrorAs(t, UnmarshalRecord([]byte(data), "leg", &leg{}), &wireErr, data)
		assert.Equal(t, want, wireErr.Problem, data)
	}
}
