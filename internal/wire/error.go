package wire

import (
	"strconv"
	"strings"
)

// Problem says what is wrong with a text. It is a fixed sentence fragment and
// never holds anything of the input.
type Problem string

// The problems that an [Error] can report.
const (
	NotANumber      Problem = "not a JSON number"
	NumberTooLong   Problem = "number longer than 64 bytes"
	NumberTooLarge  Problem = "exponent beyond ±64"
	noProblem       Problem = ""
	unnamedLocation         = "value"
)

// Error is a text that cannot be decoded. It names the place and the problem
// and repeats no value: the text may hold what must not reach a log.
type Error struct {
	Path    string // the member, such as positions[3].markPrice; empty for the value itself
	Offset  int    // where in the input, in bytes
	Problem Problem
}

// Error implements the error interface.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("wire: ")
	if e.Path == "" {
		b.WriteString(unnamedLocation)
	} else {
		b.WriteString(e.Path)
	}
	b.WriteString(": ")
	b.WriteString(string(e.Problem))
	b.WriteString(" (byte ")
	b.WriteString(strconv.Itoa(e.Offset))
	b.WriteString(")")
	return b.String()
}
