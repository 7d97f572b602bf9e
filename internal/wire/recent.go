package wire

import "github.com/shopspring/decimal"

// Answers repeat themselves: a fill's price is the position's entry and its
// mark, the rows of a list name the same symbols and states, and the next answer
// shows the same position. What a decoder returned a moment ago can be returned
// again, instead of allocated again; decimals and strings are immutable.

// recentNumbers holds decimals, each in a place that follows from its coefficient.
type recentNumbers struct {
	coefficients [16]int64 // of the numbers, beside them: nothing else is looked at to find one
	numbers      [16]decimal.Decimal
}

// decimal returns coefficient × 10^exp. An unused place is the number 0.
func (r *recentNumbers) decimal(coefficient int64, exp int32) decimal.Decimal {
	const spread = 0x9E3779B97F4A7C15 // of 2^64 by the golden ratio
	place := uint64(coefficient) * spread >> 60
	if r.coefficients[place] == coefficient && r.numbers[place].Exponent() == exp {
		return r.numbers[place]
	}
	n := decimal.New(coefficient, exp)
	r.coefficients[place], r.numbers[place] = coefficient, n
	return n
}

// recentTexts serves the rows of a list, which have the same short texts.
// Without one (a nil receiver) every text is new.
type recentTexts struct {
	texts [32]string // each in a place that follows from its bytes
	chunk []byte     // room for copies of raw values
}

const (
	maxRecentLen = 16
	chunkLen     = 4096
	maxChunkPart = 128 // longer copies get room of their own
)

// string returns the text as a string.
func (r *recentTexts) string(text []byte) string {
	if r == nil || len(text) == 0 || len(text) > maxRecentLen {
		return string(text)
	}
	place := &r.texts[(len(text)+7*int(text[0])+31*int(text[len(text)-1]))%len(r.texts)]
	if *place != string(text) {
		*place = string(text)
	}
	return *place
}

// copy returns a copy of raw. Small ones share an allocation, but no byte:
// the capacity ends with the copy.
func (r *recentTexts) copy(raw []byte) []byte {
	if r == nil || len(raw) > maxChunkPart {
		return append([]byte(nil), raw...)
	}
	if cap(r.chunk)-len(r.chunk) < len(raw) {
		r.chunk = make([]byte, 0, chunkLen)
	}
	start := len(r.chunk)
	r.chunk = append(r.chunk, raw...)
	return r.chunk[start:len(r.chunk):len(r.chunk)]
}
