package docs

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much of the server's text is kept, in bytes.
const (
	maxPage   = 32 << 10 // the text of a page
	maxText   = 2 << 10  // the text of a hit
	maxLine   = 300      // a title, and the name of a page
	maxQuoted = 200      // in an error
)

// clean makes text safe to print: line feeds and tabs stay, other white space becomes
// a space, and what is not printable becomes U+FFFD. It cuts the text at a number of
// bytes, between two characters.
func clean(text string, limit int) (cleaned string, cut bool) {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for _, r := range text {
		r = printable(r)
		if b.Len()+utf8.RuneLen(r) > limit {
			return b.String(), true
		}
		b.WriteRune(r)
	}
	return b.String(), false
}

func printable(r rune) rune {
	switch {
	case r == '\n', r == '\t', unicode.IsPrint(r):
		return r
	case r == '\r', r == '\u2028', r == '\u2029':
		return '\n'
	case unicode.IsSpace(r) && r > unicode.MaxASCII && r != '\u0085':
		return ' '
	}
	return utf8.RuneError
}

// block is clean text with an ellipsis where it is cut.
func block(text string, limit int) string {
	cleaned, cut := clean(strings.TrimSpace(text), limit-len("…"))
	if cut {
		cleaned += "…"
	}
	return cleaned
}

// line is block in one line.
func line(text string, limit int) string {
	fields := strings.FieldsFunc(block(text, limit), func(r rune) bool { return r == '\n' || r == '\t' || r == ' ' })
	return strings.Join(fields, " ")
}

// quote is line in quotes.
func quote(text string) string { return strconv.Quote(line(text, maxQuoted)) }
