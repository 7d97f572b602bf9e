package wire

import (
	"log/slog"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text from the network can hold newlines, escape sequences of terminals and what
// makes later text read backwards, and can be of any length. What prints is one line
// of bounded length.

// The most of it.
const (
	MostMessage = 1 << 10 // bytes of a message in an error
	MostShown   = 1 << 9  // bytes of a body in a log
)

// Printable returns text if it is a line, and otherwise quotes it as Go does. What is
// longer than most bytes is cut.
func Printable(text string, most int) string {
	return OneLine(CutText(text, most), len(text))
}

// OneLine is [Printable] for the beginning of a text of so many bytes.
func OneLine(text string, bytes int) string {
	rest := ""
	if len(text) < bytes {
		rest = "… (" + strconv.Itoa(bytes) + " bytes)"
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	return text + rest
}

// CutText returns the beginning of a text, cut between runes.
func CutText(text string, most int) string {
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:min(most, len(text))]
}

// Body is the body of a request or an answer, byte for byte.
type Body []byte

// String returns the text of the body on one line, cut if it is long. All of it is
// string([]byte(b)).
func (b Body) String() string {
	beginning := string(b[:min(len(b), MostShown+utf8.UTFMax)])
	return OneLine(CutText(beginning, MostShown), len(b))
}

// LogValue logs what String returns.
func (b Body) LogValue() slog.Value { return slog.StringValue(b.String()) }
