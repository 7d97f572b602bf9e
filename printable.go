package trading

import (
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text from the network can hold newlines, escape sequences of terminals and what
// makes later text read backwards, and can be of any length. What prints is one line
// of bounded length.

const (
	mostMessage = 1 << 10 // bytes of a message in an error
	mostShown   = 1 << 9  // bytes of a body in a log
)

// printable returns text if it is a line, and otherwise quotes it as Go does. What is
// longer than most bytes is cut.
func printable(text string, most int) string {
	return oneLine(cutText(text, most), len(text))
}

// oneLine is [printable] for the beginning of a text of so many bytes.
func oneLine(text string, bytes int) string {
	rest := ""
	if len(text) < bytes {
		rest = "… (" + strconv.Itoa(bytes) + " bytes)"
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	return text + rest
}

// cutText returns the beginning of a text, cut between runes.
func cutText(text string, most int) string {
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:min(most, len(text))]
}

// causeText is the text of an error beneath one of this package, which may be
// anybody's.
func causeText(err error) string { return printable(err.Error(), 4*mostMessage) }

// Body is the body of an answer, as it came.
type Body []byte

// String returns the text of the body on one line, cut if it is long. All of it is
// string([]byte(b)).
func (b Body) String() string {
	beginning := string(b[:min(len(b), mostShown+utf8.UTFMax)])
	return oneLine(cutText(beginning, mostShown), len(b))
}

// LogValue logs what String returns.
func (b Body) LogValue() slog.Value { return slog.StringValue(b.String()) }

// String returns the members as a JSON object on one line, in the order of their
// names, cut if it is long.
func (e Extra) String() string {
	var text strings.Builder
	text.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(e)) {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.Quote(name))
		text.WriteByte(':')
		text.Write(e[name])
		if text.Len() > mostShown {
			break
		}
	}
	text.WriteByte('}')
	return printable(text.String(), mostShown)
}

// LogValue logs what String returns.
func (e Extra) LogValue() slog.Value { return slog.StringValue(e.String()) }
