package trading

import (
	"math/bits"
	"strconv"

	"github.com/shopspring/decimal"
)

// A digest names a trade by what it holds: two have the same one if nothing
// differs, and else, but for one chance in 2^64, not. Trades have no ids in the
// contract, an account can have any number of them, and a baseline has to distinguish
// those that were there from a new one.
//
// A digest is the same in every process, since a journal outlives the one that
// wrote it. It does not withstand somebody who makes up trades to be confused: the
// service has simpler ways to lie.
type digest uint64

// digestOfTrade returns a trade's digest.
func digestOfTrade(t *Trade) uint64 {
	d := digest(0).
		text(t.Symbol).
		text(string(t.Side)).
		text(string(t.Cause)).
		optional(t.Size).
		optional(t.EntryPrice).
		number(t.ExitPrice).
		number(t.GrossPnL).
		number(t.RoundTripFee).
		word(uint64(t.OpenedAt.UnixNano())).
		word(uint64(t.ClosedAt.UnixNano()))
	var members digest // in no order, so summed
	for name, raw := range t.Extra {
		members += digest(0).text(name).text(string(raw))
	}
	return uint64(d.word(uint64(len(t.Extra))).word(uint64(members)))
}

// word mixes a word in: the two halves of a product that each bit of both factors
// bears on.
func (d digest) word(w uint64) digest {
	hi, lo := bits.Mul64(uint64(d)^0x9e3779b97f4a7c15, w^0xd6e8feb86659fd93)
	return digest(hi^lo) ^ digest(bits.RotateLeft64(w, 23)) // so that a factor of zero forgets nothing of the other
}

// text mixes in a text behind its length, so that no two lists of parts run
// together.
func (d digest) text(s string) digest {
	d = d.word(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		d = d.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	if len(s) > 0 {
		var tail uint64
		for i := range len(s) {
			tail |= uint64(s[i]) << (8 * i)
		}
		d = d.word(tail)
	}
	return d
}

// number mixes in a number, however it was written: 1, 1.00 and 1e0 are one.
func (d digest) number(n decimal.Decimal) digest {
	const fits = 18 // digits, in an int64
	exponent := int64(n.Exponent())
	var coefficient int64
	if n.NumDigits() <= fits {
		coefficient = n.CoefficientInt64()
	} else {
		var buf [80]byte
		digits := n.Coefficient().Append(buf[:0], 10)
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
			exponent++
		}
		var err error
		if coefficient, err = strconv.ParseInt(string(digits), 10, 64); err != nil {
			return d.word(uint64(exponent)).text(string(digits))
		}
	}
	if coefficient == 0 {
		exponent = 0
	}
	for coefficient != 0 && coefficient%10 == 0 {
		coefficient /= 10
		exponent++
	}
	return d.word(uint64(exponent)).word(uint64(coefficient))
}

func (d digest) optional(n Opt[decimal.Decimal]) digest {
	v, ok := n.Get()
	if !ok {
		return d.word(1 << 63) // no exponent
	}
	return d.number(v)
}
