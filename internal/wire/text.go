package wire

import (
	"unicode/utf16"
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
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(data[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits; -1 if there are none.
func hex4(data []byte) rune {
	if len(data) < 4 {
		return -1
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// decode returns the text that the string stands for: a part of data if it is
// verbatim, else appended to buf[:0]. As in encoding/json, what is no Unicode
// (invalid UTF-8, half a surrogate pair) becomes U+FFFD.
func (t text) decode(data, buf []byte) []byte {
	data = data[t.start+1 : t.end-1]
	if t.verbatim {
		return data
	}
	buf = buf[:0]
	for i := 0; i < len(data); {
		c := data[i]
		switch {
		case c == '\\' && data[i+1] == 'u':
			r := hex4(data[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, escapedRune(data[i:]))
				if r != utf8.RuneError {
					i += 6
				}
			}
			buf = utf8.AppendRune(buf, r)
		case c == '\\':
			buf = append(buf, unescape(data[i+1]))
			i += 2
		case c < utf8.RuneSelf:
			buf = append(buf, c)
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			buf = utf8.AppendRune(buf, r)
			i += n
		}
	}
	return buf
}

// escapedRune returns the \u escape that data begins with, -1 without one.
func escapedRune(data []byte) rune {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	return hex4(data[2:])
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // quote, backslash, slash
}
