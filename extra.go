package trading

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Extra holds the members of a record that have no field here, each as it came.
// The contract leaves the contents of some records open, and the service may add
// members to any of them. A nil Extra has none.
type Extra map[string]json.RawMessage

// Decimal returns the number of that name. It takes a JSON number and a string
// that spells one, since the service sends both. ok is false if there is no such
// member, or if it is null or no number.
func (e Extra) Decimal(name string) (n decimal.Decimal, ok bool) {
	raw := e[name]
	if text, quoted := e.Text(name); quoted {
		raw = json.RawMessage(text)
	}
	n, err := wire.ParseDecimal(raw)
	return n, err == nil
}

// Text returns the string of that name. ok is false if there is no such member,
// or if it is no JSON string.
func (e Extra) Text(name string) (s string, ok bool) {
	raw := e[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// Equal reports whether both have the same members, byte for byte.
func (e Extra) Equal(other Extra) bool {
	return maps.EqualFunc(e, other, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

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

// Body is the body of a request or an answer, byte for byte.
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
