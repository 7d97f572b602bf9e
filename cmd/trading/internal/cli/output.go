package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
)

// Output writes the result of a command to standard output: a table for people, or JSON
// for programs. Everything else goes to standard error.
type Output struct {
	app    *App
	format string
}

// Output adds the flag that chooses the form: table, json, or one of more.
func (a *App) Output(cmd *cobra.Command, more ...string) *Output {
	o := &Output{app: a}
	Choice(cmd.Flags(), &o.format, "output", "o", "table", "form of the result on standard output", append([]string{"table", "json"}, more...)...)
	return o
}

// Format is the form that was chosen.
func (o *Output) Format() string { return o.format }

// JSON reports whether a program reads.
func (o *Output) JSON() bool { return o.format == "json" }

// Print writes v as JSON, or calls table.
func (o *Output) Print(v any, table func(w io.Writer)) error {
	if o.JSON() {
		encoder := json.NewEncoder(Escaped(o.app.Out))
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	w := tabwriter.NewWriter(o.app.Out, 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// Escaped returns a writer of JSON in which a character that would move or colour something on a
// terminal is written as its number. Each write is whole.
func Escaped(w io.Writer) io.Writer { return escaped{w} }

type escaped struct{ io.Writer }

func (e escaped) Write(text []byte) (int, error) {
	plain := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r == '\n' || r == '\t' || strconv.IsPrint(r):
			plain = utf8.AppendRune(plain, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			plain = fmt.Appendf(plain, `\u%04x\u%04x`, high, low)
		default:
			plain = fmt.Appendf(plain, `\u%04x`, r)
		}
	}
	if _, err := e.Writer.Write(plain); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Row writes a line of a table. Each cell is made printable.
func Row(w io.Writer, cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, Printable(fmt.Sprint(cell)))
	}
	fmt.Fprintln(w)
}

// Printable quotes a text that would move or colour something on a terminal.
func Printable[T ~string | ~[]byte](text T) string {
	s := string(text)
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

// Word is a text as one word of the shell, for a command that a person copies from the terminal.
func Word[T ~string](text T) string {
	s := string(text)
	switch {
	case Printable(s) != s:
		return "$'" + strings.ReplaceAll(strings.Trim(strconv.QuoteToASCII(s), `"`), "'", `\'`) + "'"
	case s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
	}) < 0:
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// PrintableLines is Printable, but keeps the line ends of joined errors.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Stamp is a time in UTC; empty for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Amount is a number that may be missing: a string in JSON, or null.
type Amount struct{ trading.Opt[decimal.Decimal] }

// AmountOf returns the amount.
func AmountOf(d decimal.Decimal) Amount { return Amount{trading.Some(d)} }

// AmountIf returns the amount if there is one.
func AmountIf(d decimal.Decimal, ok bool) Amount {
	if !ok {
		return Amount{}
	}
	return AmountOf(d)
}

// MarshalJSON returns the number as a string, or null.
func (a Amount) MarshalJSON() ([]byte, error) {
	d, ok := a.Get()
	if !ok {
		return []byte("null"), nil
	}
	return json.Marshal(d.String())
}

// String returns the number, or a dash.
func (a Amount) String() string {
	d, ok := a.Get()
	if !ok {
		return "-"
	}
	return Short(d)
}

// shortPlaces is as exact as a person reads a price or a size; JSON has all of it.
const shortPlaces = 8

// Short returns a number for a person to read.
func Short(d decimal.Decimal) string {
	if short := d.Round(shortPlaces); !short.IsZero() {
		return short.String()
	}
	return d.String()
}

// Level is a level: a string in JSON, null where none is set; left out where the service
// does not tell.
type Level struct{ trading.Level }

// MarshalJSON returns the number as a string, or null.
func (l Level) MarshalJSON() ([]byte, error) {
	d, ok := l.Value()
	if !ok {
		return []byte("null"), nil
	}
	return json.Marshal(d.String())
}

// String returns the number, "none", or a question mark.
func (l Level) String() string {
	d, ok := l.Value()
	switch {
	case ok:
		return d.String()
	case l.IsClear():
		return "none"
	default:
		return "?"
	}
}

// Dollars is an amount for people: to the cent, with commas.
func Dollars(d decimal.Decimal) string {
	text := d.Abs().StringFixed(2)
	whole, cents, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if d.Round(2).IsNegative() {
		whole = "-" + whole
	}
	return whole + "." + cents
}

// DollarsIf is an amount that may be missing.
func DollarsIf(a Amount) string {
	d, ok := a.Get()
	if !ok {
		return "-"
	}
	return Dollars(d)
}
