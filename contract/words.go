package contract

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clip bounds a text of the description, which may be of any length and hold
// anything, for a place in a sentence.
func clip(text string) string {
	const most = 120
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if !utf8.ValidString(text) || strings.IndexFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		text = strconv.QuoteToASCII(text)
	}
	return text
}

// canonical is a value in one form of JSON, to compare it with others in a set.
func canonical(value any) string {
	text, err := json.Marshal(value) // sorts the names
	if err != nil {
		return err.Error() // a value from JSON has a form in JSON
	}
	return string(text)
}

// same compares two values; numbers by what they mean.
func same(a, b any) bool {
	if before, ok := number(a); ok {
		if after, ok := number(b); ok {
			return before.Cmp(after) == 0
		}
	}
	return reflect.DeepEqual(a, b) // ends at the first difference
}

// said is a value in a sentence.
func said(value any) string {
	switch value := value.(type) {
	case nil:
		return "none"
	case object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return clip(value)
	default:
		return clip(canonical(value))
	}
}
