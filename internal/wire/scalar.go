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

// text reads a string and returns its bytes, which are part of the input or
// of the buffer that the next text is decoded into.
func (d *Decoder) text() []byte {
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
	return d.string(d.text())
}

// Decimal reads a number exactly, within the limits of [ParseDecimal]. A string
// that holds a JSON number counts as one: services flip between the two.
func (d *Decoder) Decimal() decimal.Decimal {
	n, text, start := d.number()
	if d.err != nil {
		return decimal.Decimal{}
	}
	if problem := n.limits(); problem != noProblem {
		d.failAt(problem, start)
		return decimal.Decimal{}
	}
	if n.digits > maxFastDigits {
		return n.decimal(text)
	}
	if small, ok := smallDecimal(n.coefficient, n.scale()); ok {
		return small
	}
	return d.decimal(n.coefficient, int32(n.scale()))
}

// Int64 reads a whole number, in any notation and from a string as well.
func (d *Decoder) Int64() int64 {
	n, text, start := d.number()
	if d.err != nil {
		return 0
	}
	value, problem := n.int64(text)
	if problem != noProblem {
		d.failAt(problem, start)
	}
	return value
}

// int64 returns the value of the number, which text begins with.
func (n *number) int64(text []byte) (int64, Problem) {
	if problem := n.limits(); problem != noProblem {
		return 0, problem
	}
	if n.digits <= maxFastDigits && n.fraction == 0 && n.exponent == 0 {
		return n.coefficient, noProblem
	}
	d := n.decimal(text)
	if !d.IsInteger() || !d.BigInt().IsInt64() {
		return 0, NotAnInteger
	}
	return d.IntPart(), noProblem
}

// number reads a number, or a string that holds one. It returns the text, which
// the number spans, and where in the input the value begins.
func (d *Decoder) number() (n number, text []byte, start int) {
	c := d.peek()
	start = d.pos
	if c == '"' {
		text = d.text()
		if len(text) > maxNumberLen {
			d.failAt(NumberTooLong, start)
			return n, nil, start
		}
		n, ok := scanNumber(text)
		if !ok || n.end != len(text) {
			d.failAt(NotANumber, start)
		}
		return n, text, start
	}
	if c != '-' && c-'0' > 9 {
		d.mismatch()
		return n, nil, start
	}
	text = d.data[start:]
	n, ok := scanNumber(text)
	if !ok {
		d.fail(NotANumber)
		return n, nil, start
	}
	d.pos = start + n.end
	return n, text, start
}
