package export

import (
	"strings"
	"unicode"
)

// starters make a formula of a cell in one spreadsheet or another; the wide ones do in
// those that take East Asian input.
const starters = "=+-@＝＋－＠"

// separators end a cell where a spreadsheet splits a file at another character than the
// comma, or breaks a line inside quotes.
const separators = ",;|\"'"

// Text returns a text as a cell that no spreadsheet takes for a formula: an apostrophe
// stands in front of what could begin one, and characters that move a cursor are spaces.
func Text(s string) string {
	var b strings.Builder
	start := true
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' {
			b.WriteByte(' ')
			start = true
			continue
		}
		if start && strings.ContainsRune(starters, r) {
			b.WriteByte('\'')
		}
		b.WriteRune(r)
		start = strings.ContainsRune(separators, r) || start && unicode.IsSpace(r)
	}
	return b.String()
}
