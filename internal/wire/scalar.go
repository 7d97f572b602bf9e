package wire

import "github.com/shopspring/decimal"

// Null reports whether the next value is null, and reads it if so.
func (d *Decoder) Null() bool {
	if d.peek() != 'n' || !hasLiteral(d.data, d.pos, "null") {
		return false
	}
	d.pos += len("null")
	return true
}

// Bool reads true or false.
func (d *Decoder) Bool() bool {
	switch c := d.peek(); {
	case c == 't' && hasLiteral(d.data, d.pos, "true"):
		d.pos += len("true")
		return true
	case c == 'f' && hasLiteral(d.data, d.pos, "false"):
		d.pos += len("false")
		return false
	}
	d.mismatch()
	return false
}

// TextBytes reads a string and returns its bytes, which are valid until the next
// call: for generated code that compares them with constants.
func (d *Decoder) TextBytes() []byte {
	if d.peek() != '"' {
		d.mismatch()
		return nil
	}
	t := scanText(d.data, d.pos)
	if t.problem != noProblem {
		d.failAt(t.problem, t.end)
		return nil
	}
	decoded := t.decode(d.data, d.buf)
	if !t.verbatim {
		d.buf = decoded
	}
	d.pos = t.end
	return decoded
}

// Text reads a string.
func (d *Decoder) Text() string {
	text := d.TextBytes()
	if word := commonWord(text); word != "" {
		return word
	}
	if d.recent != nil {
		return d.recent.string(text)
	}
	return string(text)
}

// Decimal reads a number exactly, within the limits of [ParseDecimal]. A string
// that holds a JSON number counts as one: services flip between the two.
func (d *Decoder) Decimal() decimal.Decimal {
	start := d.pos
	text := d.number()
	if d.err != nil {
		return decimal.Decimal{}
	}
	n, problem := parseDecimal(text)
	if problem != noProblem {
		d.failAt(problem, skipSpace(d.data, start))
	}
	return n
}

// Int64 reads a whole number, in any notation and from a string as well.
func (d *Decoder) Int64() int64 {
	start := d.pos
	text := d.number()
	if d.err != nil {
		return 0
	}
	n, problem := parseInt64(text)
	if problem != noProblem {
		d.failAt(problem, skipSpace(d.data, start))
	}
	return n
}

func parseInt64(text []byte) (int64, Problem) {
	n, ok := scanNumber(text)
	if ok && n.end == len(text) && n.digits <= maxFastDigits && n.fraction == 0 && n.exponent == 0 {
		return n.coefficient, noProblem
	}
	d, problem := parseDecimal(text)
	if problem != noProblem {
		return 0, problem
	}
	if !d.IsInteger() || !d.BigInt().IsInt64() {
		return 0, NotAnInteger
	}
	return d.IntPart(), noProblem
}

// number reads a number, or a string in the place of one, and returns its text.
func (d *Decoder) number() []byte {
	c := d.peek()
	if c == '"' {
		return d.TextBytes()
	}
	if c != '-' && c-'0' > 9 {
		d.mismatch()
		return nil
	}
	n, ok := scanNumber(d.data[d.pos:])
	if !ok {
		d.fail(NotANumber)
		return nil
	}
	text := d.data[d.pos : d.pos+n.end]
	d.pos += n.end
	return text
}

// recentTexts holds short strings that were read a moment ago. The rows of a
// list repeat symbols and names of states; one copy of each is enough.
type recentTexts [32]string

const maxRecentLen = 16

func (r *recentTexts) string(text []byte) string {
	if len(text) == 0 || len(text) > maxRecentLen {
		return string(text)
	}
	slot := &r[(len(text)+7*int(text[0])+31*int(text[len(text)-1]))%len(r)]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}
