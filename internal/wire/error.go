package wire

import "strconv"

// Problem says what is wrong with a text. It is a fixed sentence fragment and
// holds nothing of the input.
type Problem string

// The problems that an [JSONError] can report.
const (
	Syntax         Problem = "not well-formed JSON"
	Truncated      Problem = "ends too early"
	TrailingData   Problem = "more than one JSON value"
	TooDeep        Problem = "nested deeper than 64 levels"
	Duplicate      Problem = "member present more than once"
	Missing        Problem = "required member missing"
	UnexpectedNull Problem = "null where a value is required"
	WrongType      Problem = "JSON value of another type"
	NotANumber     Problem = "not a JSON number"
	NotAnInteger   Problem = "not an integer of 64 bits"
	NumberTooLong  Problem = "number longer than 64 bytes"
	NumberTooLarge Problem = "exponent beyond ±64"

	noProblem Problem = ""
)

// JSONError is a text that cannot be decoded. It names the place and the problem
// and repeats no value: the text may hold what must not reach a log.
type JSONError struct {
	Path    string // the member, such as positions[3].markPrice; empty for the whole value
	Offset  int    // where in the input, in bytes
	Problem Problem
}

// Error implements the error interface. Its length is bounded.
func (e *JSONError) Error() string {
	text := "wire: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	return text + string(e.Problem) + " (byte " + strconv.Itoa(e.Offset) + ")"
}
