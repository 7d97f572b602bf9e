package contract

import (
	"encoding/json"
	"math/big"
	"strings"
)

// more compares two numbers of a description. known is false for what is none, or
// is too long to be worth the arithmetic.
func more(was, is any) (higher, known bool) {
	before, ok := number(was)
	if !ok {
		return false, false
	}
	after, ok := number(is)
	if !ok {
		return false, false
	}
	return after.Cmp(before) > 0, true
}

func number(value any) (*big.Rat, bool) {
	literal, ok := value.(json.Number)
	// An exponent of nine digits would be a number of as many.
	if !ok || len(literal) > 64 || strings.ContainsAny(literal.String(), "eE") {
		return nil, false
	}
	return new(big.Rat).SetString(literal.String())
}

// ranges compares what bounds a value. A bound that is gone makes the range wider,
// a new one narrower.
func (s schemas) ranges() {
	for _, bound := range []struct {
		keyword string
		lower   bool // the higher it is, the less remains
	}{
		{"minimum", true},
		{"maximum", false},
		{"minLength", true},
		{"maxLength", false},
		{"minItems", true},
		{"maxItems", false},
		{"minProperties", true},
		{"maxProperties", false},
	} {
		s.bound(bound.keyword, func(was, is any) (wider, known bool) {
			higher, known := more(was, is)
			return higher != bound.lower, known
		})
	}
	unknown := func(any, any) (bool, bool) { return false, false }
	for _, keyword := range []string{"pattern", "multipleOf"} {
		s.bound(keyword, unknown)
	}
	for _, keyword := range []string{"exclusiveMinimum", "exclusiveMaximum", "uniqueItems"} {
		was, is := s.was[keyword] == true, s.is[keyword] == true
		if was != is {
			s.say(s.direction.harms(was), "%s is %t, was %t", keyword, is, was)
		}
	}
}

func (s schemas) bound(keyword string, compare func(was, is any) (wider, known bool)) {
	was, is := s.was[keyword], s.is[keyword]
	if same(was, is) {
		return
	}
	wider, known := is == nil, true
	if was != nil && is != nil {
		wider, known = compare(was, is)
	}
	s.say(!known || s.direction.harms(wider), "%s is %s, was %s", keyword, said(is), said(was))
}
