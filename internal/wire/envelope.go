package wire

// Shape is what the top level of an answer tells about it: whether it has the
// form that the service gives its answers.
type Shape struct {
	Object  bool // the value is an object
	OK      bool // member ok is true
	Success bool // member success is true

	Error, Message       string // the members of these names, if they are strings
	HasError, HasMessage bool   // whether they are
}

// Envelope checks that data is one well-formed JSON value, and tells its shape
// without decoding it. The error is an [*Error].
func Envelope(data []byte) (Shape, error) {
	s := envelopeScan{data: data}
	end, problem := s.scan(skipSpace(data, 0))
	if problem == noProblem {
		if end = skipSpace(data, end); end < len(data) {
			problem = TrailingData
		}
	}
	if problem != noProblem {
		return Shape{}, &Error{Path: pathAt(data, end, ""), Offset: end, Problem: problem}
	}
	s.text(s.error, &s.shape.Error, &s.shape.HasError)
	s.text(s.message, &s.shape.Message, &s.shape.HasMessage)
	return s.shape, nil
}

// The members that Envelope looks at.
const (
	seenOK = 1 << iota
	seenSuccess
	seenError
	seenMessage
)

type envelopeScan struct {
	data           []byte
	shape          Shape
	seen           int
	error, message int // where the values begin; 0 without the member
}

func (s *envelopeScan) scan(i int) (end int, problem Problem) {
	data := s.data
	if i >= len(data) || data[i] != '{' {
		return skipValue(data, i, 0)
	}
	s.shape.Object = true
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, noProblem
	}
	for {
		name, value, problem := scanName(data, i)
		if problem != noProblem {
			return value, problem
		}
		if !s.note(name, value) {
			return value, Duplicate
		}
		if i, problem = skipValue(data, value, 1); problem != noProblem {
			return i, problem
		}
		i = skipSpace(data, i)
		switch {
		case i >= len(data):
			return i, Truncated
		case data[i] == '}':
			return i + 1, noProblem
		case data[i] != ',':
			return i, Syntax
		}
		i = skipSpace(data, i+1)
	}
}

// note remembers the member if it is one of the four; false if it was there
// before, because then two readers may see two answers.
func (s *envelopeScan) note(name text, value int) bool {
	var buf [16]byte
	member := 0
	switch string(name.decode(s.data, buf[:0])) {
	case "ok":
		member = seenOK
		s.shape.OK = hasLiteral(s.data, value, "true")
	case "success":
		member = seenSuccess
		s.shape.Success = hasLiteral(s.data, value, "true")
	case "error":
		member = seenError
		s.error = value
	case "message":
		member = seenMessage
		s.message = value
	}
	again := s.seen&member != 0
	s.seen |= member
	return !again
}

// text copies the string that begins at data[i], if there is one.
func (s *envelopeScan) text(i int, to *string, is *bool) {
	// A message alone is data of a success, not worth a copy.
	if i == 0 || s.error == 0 || s.data[i] != '"' {
		return
	}
	*to, *is = string(scanText(s.data, i).decode(s.data, nil)), true
}
