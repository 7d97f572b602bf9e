package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree decodes anything, into what encoding/json makes of it with numbers kept.
type tree struct{ value any }

func (v *tree) DecodeWire(d *Decoder) error {
	switch c := d.peek(); {
	case c == '{':
		members := map[string]any{}
		for d.Object(); d.Member(); {
			name := string(d.Name())
			if _, again := members[name]; again {
				d.fail(Duplicate)
			}
			var member tree
			d.Record(&member)
			members[name] = member.value
		}
		v.value = members
	case c == '[':
		elements := []any{}
		for _, element := range List[tree](d) {
			elements = append(elements, element.value)
		}
		v.value = elements
	case c == '"':
		v.value = d.Text()
	case c == 't' || c == 'f':
		v.value = d.Bool()
	case d.Null():
	default:
		v.value = json.Number(d.Raw())
	}
	return d.Err()
}

// FuzzUnmarshal compares what is accepted and what is read with encoding/json,
// on arbitrary input.
func FuzzUnmarshal(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		var got tree
		shape, err := Answer(data, &got)
		_, rawErr := raw(data)
		var wireErr *JSONError
		require.True(t, err == nil || errors.As(err, &wireErr), "%q: error of type %T", data, err)
		if wireErr != nil && (wireErr.Problem == TooDeep || wireErr.Problem == Duplicate) {
			return
		}
		valid := json.Valid(data)
		require.Equal(t, valid, err == nil, "%q: decoded %v", data, err)
		require.Equal(t, valid, rawErr == nil, "%q: skipped %v", data, rawErr)
		if err != nil {
			require.LessOrEqual(t, len(err.Error()), 400, "%q", data)
			require.LessOrEqual(t, wireErr.Offset, len(data), "%q", data)
			return
		}
		std := json.NewDecoder(bytes.NewReader(data))
		std.UseNumber()
		var want any
		require.NoError(t, std.Decode(&want))
		require.Equal(t, want, got.value, "%q", data)
		looked, err := Envelope(data)
		require.NoError(t, err, "%q", data)
		require.Equal(t, shape, looked, "%q", data)
	})
}

func raw(data []byte) (json.RawMessage, error) {
	d := NewDecoder(data)
	raw := d.Raw()
	return raw, d.Finish()
}
