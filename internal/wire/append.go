package wire

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Objects are written member by member, each with a comma in front of its
// name; EndObject turns the first comma into the bracket. So generated code
// need not know which optional member comes first.

// EndObject completes the object whose members begin at dst[start].
func EndObject(dst []byte, start int) []byte {
	if len(dst) == start {
		return append(dst, '{', '}')
	}
	dst[start] = '{'
	return append(dst, '}')
}

// AppendOpt appends a member: prefix, which is the comma, the name and the
// colon, and the value or null. It appends nothing if the member is absent.
func AppendOpt[T any](dst []byte, prefix string, member Nullable[T], appendValue func([]byte, T) []byte) []byte {
	switch member.state {
	case optNull:
		dst = append(dst, prefix...)
		return append(dst, "null"...)
	case optValue:
		dst = append(dst, prefix...)
		return appendValue(dst, member.value)
	}
	return dst
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// AppendInt64 appends a whole number.
func AppendInt64(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendRaw appends JSON as it is; nil is null.
func AppendRaw(dst []byte, raw json.RawMessage) []byte {
	if raw == nil {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// AppendString appends a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString[S ~string](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case plainByte[c]:
			dst = append(dst, c)
			i++
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			i++
		default:
			r, n := utf8.DecodeRuneInString(string(s[i:]))
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return append(dst, '"')
}
