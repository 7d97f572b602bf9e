package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
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
	jsontext.Add[[]byte](f, 1000, jsontext.Spoiled(2, jsontext.Value(3)))
	jsontext.Add[[]byte](f, 500, jsontext.Spoiled(2, jsontext.String))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got tree
		shape, err := Answer(data, &got)
		_, rawErr := raw(data)
		checkRefusal(t, data, rawErr)
		if checkRefusal(t, data, err) {
			return
		}
		require.Equal(t, standard(t, data), got.value, "%q", data)
		require.False(t, walk(reader(data), "", func(path string, end int64) {
			if at := pathAt(data, int(end), ""); !strings.Contains(at, "...") { // cut where it is long
				require.Equal(t, path, at, "%q", data[:end])
			}
		}), "%q", data)
		looked, err := Envelope(data)
		require.NoError(t, err, "%q", data)
		require.Equal(t, shape, looked, "%q", data)
	})
}

// standard is what encoding/json makes of a text, with numbers kept.
func standard(t *testing.T, data []byte) (value any) {
	require.NoError(t, reader(data).Decode(&value), "%q", data)
	return value
}

func reader(data []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d
}

// cutWord is the end of what is a mistake where it begins, if it is cut there.
var cutWord = regexp.MustCompile(`[a-z]$|\\(u[0-9a-fA-F]{0,3})?$`)

// checkRefusal holds an error against what encoding/json says of the text, and reports whether there is one.
func checkRefusal(t *testing.T, data []byte, err error) bool {
	t.Helper()
	var std *json.SyntaxError
	invalid := errors.As(json.Unmarshal(data, new(json.RawMessage)), &std)
	if err == nil {
		require.False(t, invalid, "%q: accepted", data)
		return false
	}
	var wireErr *JSONError
	require.ErrorAs(t, err, &wireErr, "%q", data)
	require.LessOrEqual(t, len(err.Error()), 400, "%q", data)
	switch {
	case wireErr.Problem == TooDeep:
		require.Greater(t, bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")), maxDepth, "%q", data)
		return true
	case wireErr.Problem == Duplicate:
		require.True(t, invalid || walk(reader(data), "", func(string, int64) {}), "%q", data)
		return true
	}
	require.True(t, invalid, "%q: %v", data, err)
	want, at := Syntax, int(std.Offset)-1
	switch text := std.Error(); {
	case wireErr.Problem == NotANumber && strings.IndexByte("-0123456789", data[wireErr.Offset]) >= 0: // where it begins
		want, at = NotANumber, wireErr.Offset
	case strings.Contains(text, "after top-level value"):
		want = TrailingData
	case strings.HasPrefix(text, "unexpected end") && !(wireErr.Problem == Syntax && cutWord.Match(data)):
		want, at = Truncated, len(data)
	case wireErr.Offset < at && strings.IndexByte(`\tfn`, data[wireErr.Offset]) >= 0: // where it begins
		at = wireErr.Offset
	}
	require.Equal(t, JSONError{wireErr.Path, at, want}, *wireErr, "%q: %v", data, std)
	return true
}

// walk visits the values of a text by encoding/json, each with its path, where it ends; it reports whether an
// object has a member twice.
func walk(d *json.Decoder, path string, visit func(path string, end int64)) (twice bool) {
	opened, _ := d.Token()
	names := map[json.Token]bool{}
	for i := 0; (opened == json.Delim('{') || opened == json.Delim('[')) && d.More(); i++ {
		next := fmt.Sprintf("%s[%d]", path, i)
		if opened == json.Delim('{') {
			name, _ := d.Token()
			twice = twice || names[name]
			names[name] = true
			if next = strings.TrimPrefix(path+"."+name.(string), "."); !plainName.MatchString(name.(string)) {
				next = fmt.Sprintf("%s[%+q]", path, name)
			}
		}
		twice = walk(d, next, visit) || twice
	}
	if _, is := opened.(json.Delim); is {
		_, _ = d.Token()
	}
	visit(path, d.InputOffset())
	return twice
}

var plainName = regexp.MustCompile(`^\w+$`)

func raw(data []byte) (json.RawMessage, error) {
	d := NewDecoder(data)
	raw := d.Raw()
	return raw, d.Finish()
}
