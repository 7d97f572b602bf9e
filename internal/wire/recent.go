package wire

import "github.com/shopspring/decimal"

// Answers repeat themselves: a fill's price is the position's entry and its
// mark, the rows of a list name the same symbols and states, and the next answer
// shows the same position. What a decoder returned a moment ago can be returned
// again, instead of allocated again; decimals and strings are immutable.

// recent is what was read a moment ago: numbers, each in a place that follows from its
// coefficient, and short texts, each in one that follows from its bytes.
type recent struct {
	coefficients [64]int64 // of the numbers, beside them: nothing else is looked at to find one
	numbers      [64]decimal.Decimal
	texts        [113]string // a prime, by which the words of the contract are apart
}

// seen is made when a number or a text is first read, and kept from answer to answer.
func (d *Decoder) seen() *recent {
	if d.recent == nil {
		d.recent = new(recent)
	}
	return d.recent
}

// decimal returns coefficient × 10^exp. An unused place is the number 0.
func (d *Decoder) decimal(coefficient int64, exp int32) decimal.Decimal {
	const spread = 0x9E3779B97F4A7C15 // of 2^64 by the golden ratio
	place, r := uint64(coefficient)*spread>>58, d.seen()
	if r.coefficients[place] == coefficient && r.numbers[place].Exponent() == exp {
		return r.numbers[place]
	}
	n := decimal.New(coefficient, exp)
	r.coefficients[place], r.numbers[place] = coefficient, n
	return n
}

const (
	maxRecentLen = 16
	chunkLen     = 4096
	maxChunkPart = 128 // longer copies get room of their own
)

// string returns the text as a string.
func (d *Decoder) string(text []byte) string {
	if len(text) == 0 || len(text) > maxRecentLen {
		return string(text)
	}
	r := d.seen()
	place := &r.texts[(len(text)+7*int(text[0])+31*int(text[len(text)-1]))%len(r.texts)]
	if *place != string(text) {
		*place = string(text)
	}
	return *place
}

// copy returns a copy of raw. Small ones of a list share an allocation, but no byte:
// the capacity ends with the copy.
func (d *Decoder) copy(raw []byte) []byte {
	if !d.listed || len(raw) > maxChunkPart {
		return append([]byte(nil), raw...)
	}
	if cap(d.chunk)-len(d.chunk) < len(raw) {
		d.chunk = make([]byte, 0, chunkLen)
	}
	start := len(d.chunk)
	d.chunk = append(d.chunk, raw...)
	return d.chunk[start:len(d.chunk):len(d.chunk)]
}
