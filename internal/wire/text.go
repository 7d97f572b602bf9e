package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// text is a JSON string found in the input.
type text struct {
	start, end int  // with the quotes
	verbatim   bool // the bytes between the quotes are the text itself
	problem    Problem
}

// plainByte marks the bytes that stand for themselves in a JSON string and are
// valid UTF-8 on their own.
var plainByte = func() (table [256]bool) {
	for c := byte(0x20); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// scanText checks the JSON string whose opening quote is at data[start].
func scanText(data []byte, start int) text {
	i := start + 1
	for i < len(data) && plainByte[data[i]] {
		i++
	}
	if i < len(data) && data[i] == '"' {
		return text{start: start, end: i + 1, verbatim: true}
	}
	return scanIntricateText(data, start, i)
}

// scanIntricateText goes on at i with a string that has escapes, characters
// beyond ASCII, or a mistake.
func scanIntricateText(data []byte, start, i int) text {
	escaped := false
	for i < len(data) {
		switch c := data[i]; {
		case c == '"':
			verbatim := !escaped && utf8.Valid(data[start+1:i])
			return text{start: start, end: i + 1, verbatim: verbatim}
		case c < 0x20:
			return text{start: start, end: i, problem: Syntax}
		case c == '\\':
			escaped = true
			n := escapeLen(data[i:])
			if n == 0 {
				return text{start: start, end: i, problem: Syntax}
			}
			i += n
		default:
			i++
		}
	}
	return text{start: start, end: len(data), problem: Truncated}
}

// escapeLen returns the length of the escape sequence that data begins with, 0
// if it is none.
func escapeLen(data []byte) int {
	switch {
	case len(data) > 1 && strings.IndexByte(`"\/bfnrt`, data[1]) >= 0:
		return 2
	case len(data) > 5 && data[1] == 'u' && bytes.IndexFunc(data[2:6], func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }) < 0:
		return 6
	default:
		return 0
	}
}

// decode returns the text that the string stands for: a part of data if it is
// verbatim, else appended to buf[:0]. What is no Unicode (invalid UTF-8, half a
// surrogate pair) becomes U+FFFD.
func (t text) decode(data, buf []byte) []byte {
	if t.verbatim {
		return data[t.start+1 : t.end-1]
	}
	var decoded string
	_ = json.Unmarshal(data[t.start:t.end], &decoded) // which scanText has checked
	return append(buf[:0], decoded...)
}
