// Package jsontext makes JSON texts by chance, for the tests of what reads them: at the bounds of numbers,
// with all that a string may hold, and with one mistake.
package jsontext

import (
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// Add adds n texts to the corpus of a fuzz target. A failure names the text, as in FuzzTime/seed#7, and -run
// with that name reads it again.
func Add[T string | []byte](f *testing.F, n uint64, text func(*rand.Rand) []byte) {
	for dice := range Dice(n) {
		f.Add(T(text(dice)))
	}
}

// Dice are n dice, for as many cases of a fuzz target, and the same in every run. A fuzzer, which tries all
// cases before it makes its own, has ten.
func Dice(n uint64) iter.Seq[*rand.Rand] {
	if flag.Lookup("test.fuzz").Value.String() != "" {
		n = min(n, 10)
	}
	return func(yield func(*rand.Rand) bool) {
		for i := range n {
			if !yield(rand.New(rand.NewPCG(1, i))) {
				return
			}
		}
	}
}

// Spoiled is one of n texts with one byte, or all from it on, changed; n-1 of them stay as they are.
func Spoiled(n int, text func(*rand.Rand) []byte) func(*rand.Rand) []byte {
	return func(dice *rand.Rand) []byte {
		made := text(dice)
		if dice.IntN(n) > 0 || len(made) == 0 {
			return made
		}
		const telling = "{}[],:\"\\ueE+-.019ntf \n\x00\x1f\x7f\xff"
		at, b := dice.IntN(len(made)), telling[dice.IntN(len(telling))]
		switch dice.IntN(5) {
		case 0:
			return made[:at]
		case 1:
			return slices.Delete(made, at, at+1)
		case 2:
			return slices.Insert(made, at, b)
		case 3:
			return append(made, b)
		}
		made[at] = b
		return made
	}
}

// Of is one of some texts.
func Of(texts ...string) func(*rand.Rand) []byte {
	return func(dice *rand.Rand) []byte { return []byte(texts[dice.IntN(len(texts))]) }
}

// Number is a number of at most some 70 digits; many of them are small, and many at a bound.
func Number(dice *rand.Rand) (text []byte) {
	if dice.IntN(3) == 0 {
		text = append(text, '-')
	}
	if dice.IntN(4) == 0 {
		text = append(text, '0')
	} else {
		text = digits(dice, append(text, '1'+byte(dice.IntN(9))), length(dice)-1)
	}
	if dice.IntN(2) == 0 {
		text = digits(dice, append(text, '.'), length(dice))
	}
	if dice.IntN(3) == 0 {
		text = append(text, "eE"[dice.IntN(2)])
		text = append(text, [...]string{"", "+", "-"}[dice.IntN(3)]...)
		text = append(text, [...]string{"0", "1", "03", "9", "20", "62", "63", "64", "65", "999999999", "99999999999999999999"}[dice.IntN(11)]...)
	}
	return text
}

// length is that of some digits.
func length(dice *rand.Rand) int {
	switch dice.IntN(8) {
	case 0:
		return 17 + dice.IntN(4) // an int64 has 18 or 19
	case 1:
		return 59 + dice.IntN(7) // a text may have 64
	}
	return 1 + dice.IntN(5)
}

// digits appends n digits: all the same, or any.
func digits(dice *rand.Rand, to []byte, n int) []byte {
	const same = "09"
	kind := dice.IntN(4)
	for range n {
		if kind < len(same) {
			to = append(to, same[kind])
		} else {
			to = append(to, '0'+byte(dice.IntN(10)))
		}
	}
	return to
}

// String is a string, with its quotes: of letters, of all that stands for something else, and of what is no
// Unicode.
func String(dice *rand.Rand) []byte {
	text := []byte{'"'}
	for range dice.IntN(6) {
		text = append(text, parts[dice.IntN(len(parts))]...)
	}
	return append(text, '"')
}

var parts = [...]string{
	"a", "Z", " ", "word", "\x7f", "é", "😀", "\u2028", "\xff", "\xe2\x82", "\xed\xa0\xbd", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`,
	`\u0000`, `\u00e9`, `\u00E9`, `\u20ac`, `\ud83d\ude00`, `\uD83D\uDE00`, `\ud83d`, `\ude00`,
}

// Value makes an object or an array of at most some depth; the members of objects have these names, or any.
func Value(depth int, names ...string) func(*rand.Rand) []byte {
	return func(dice *rand.Rand) []byte { return brackets(dice, nil, depth, names) }
}

func brackets(dice *rand.Rand, to []byte, depth int, names []string) []byte {
	object := dice.IntN(4) > 0
	opening, closing := byte('['), byte(']')
	if object {
		opening, closing = '{', '}'
	}
	to = space(dice, append(to, opening))
	for i := range dice.IntN(6) {
		if i > 0 {
			to = space(dice, append(to, ','))
		}
		if object {
			to = space(dice, append(to, name(dice, names)...))
			to = space(dice, append(to, ':'))
		}
		switch kind := dice.IntN(7); {
		case kind > 4 && depth > 1:
			to = brackets(dice, to, depth-1, names)
		case kind > 3:
			to = append(to, Number(dice)...)
		case kind > 2:
			to = append(to, String(dice)...)
		default:
			to = append(to, [...]string{"null", "true", "false"}[kind]...)
		}
		to = space(dice, to)
	}
	return append(to, closing)
}

// name is a string, of which some are spelled with an escape.
func name(dice *rand.Rand, names []string) []byte {
	if len(names) == 0 || dice.IntN(5) == 0 {
		return String(dice)
	}
	text := names[dice.IntN(len(names))]
	if dice.IntN(8) == 0 {
		return fmt.Appendf(nil, `"\u%04x%s"`, text[0], text[1:])
	}
	return fmt.Appendf(nil, "%q", text)
}

func space(dice *rand.Rand, to []byte) []byte {
	if dice.IntN(4) > 0 {
		return to
	}
	return append(to, " \n\t\r"[dice.IntN(4)])
}
