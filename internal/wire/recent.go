package wire

import "github.com/shopspring/decimal"

// Answers repeat themselves: a fill's price is the position's entry and its
// mark, the rows of a list name the same symbols and states. What a decoder
// returned a moment ago can be returned again, instead of allocated again;
// decimals and strings are immutable.

// recentNumbers holds the last decimals.
type recentNumbers struct {
	numbers [4]decimal.Decimal
	oldest  int
}

// decimal returns coefficient × 10^exp. An unused place is the number 0.
func (r *recentNumbers) decimal(coefficient int64, exp int32) decimal.Decimal {
	for _, n := range r.numbers {
		if n.CoefficientInt64() == coefficient && n.Exponent() == exp {
			return n
		}
	}
	n := decimal.New(coefficient, exp)
	r.numbers[r.oldest] = n
	r.oldest = (r.oldest + 1) % len(r.numbers)
	return n
}

// recentTexts holds short texts, each in a place that follows from its bytes.
type recentTexts [32]string

const maxRecentLen = 16

// string returns the text as a string; a nil receiver always makes a new one.
func (r *recentTexts) string(text []byte) string {
	if r == nil || len(text) == 0 || len(text) > maxRecentLen {
		return string(text)
	}
	place := &r[(len(text)+7*int(text[0])+31*int(text[len(text)-1]))%len(r)]
	if *place != string(text) {
		*place = string(text)
	}
	return *place
}
