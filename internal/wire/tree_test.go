package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
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
		var wireErr *Error
		if err != nil && !errors.As(err, &wireErr) {
			t.Fatalf("%q: error of type %T", data, err)
		}
		if wireErr != nil && (wireErr.Problem == TooDeep || wireErr.Problem == Duplicate) {
			return
		}
		valid := json.Valid(data)
		if (err == nil) != valid || (rawErr == nil) != valid {
			t.Fatalf("%q: decoded %v, skipped %v, want valid %t", data, err, rawErr, valid)
		}
		if err != nil {
			if len(err.Error()) > 400 || wireErr.Offset > len(data) {
				t.Fatalf("%q: error %v", data, err)
			}
			return
		}
		std := json.NewDecoder(bytes.NewReader(data))
		std.UseNumber()
		var want any
		if err := std.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.value, want) {
			t.Fatalf("%q: got %#v, want %#v", data, got.value, want)
		}
		if looked, err := Envelope(data); err != nil || looked != shape {
			t.Fatalf("%q: decoded as %+v, looked over as %+v, %v", data, shape, looked, err)
		}
	})
}

func raw(data []byte) (json.RawMessage, error) {
	d := NewDecoder(data)
	raw := d.Raw()
	return raw, d.Finish()
}
