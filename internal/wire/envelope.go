package wire

// Shape is what the top level of an answer shows about it: whether it has the
// form that the service gives its answers.
type Shape struct {
	Object  bool // the value is an object
	OK      bool // member ok is true
	Success bool // member success is true

	HasOK, HasSuccess bool // whether there are members of these names

	Error, Message       string // the members of these names, if they are strings
	HasError, HasMessage bool   // whether they are
}

// Envelope checks that data is one well-formed JSON value, and returns its shape
// without decoding it. The error is an [*Error].
func Envelope(data []byte) (Shape, error) { return Answer(data, anything{}) }

// anything is a value of which nothing but its shape is wanted.
type anything struct{}

// DecodeWire implements [Value].
func (anything) DecodeWire(d *Decoder) error {
	if d.peek() != '{' {
		d.Skip()
		return d.Err()
	}
	for d.Object(); d.Member(); {
		d.Skip()
	}
	return d.Err()
}

// The members that make a shape.
const (
	seenOK = 1 << iota
	seenSuccess
	seenError
	seenMessage
)

// envelope is what a decoder notes of the shape on its way.
type envelope struct {
	object, ok, success bool
	seen                uint8
	error, message      int // where the values begin; 0 without the member
}

// noteMember notes a member of the top level if it is one of the four; false if
// it was there before, because then two readers may see two answers.
func (d *Decoder) noteMember() bool {
	e := &d.envelope
	var member uint8
	switch string(d.name) {
	case "ok":
		member = seenOK
		e.ok = hasLiteral(d.data, d.pos, "true")
	case "success":
		member = seenSuccess
		e.success = hasLiteral(d.data, d.pos, "true")
	case "error":
		member = seenError
		e.error = d.pos
	case "message":
		member = seenMessage
		e.message = d.pos
	}
	if e.seen&member != 0 {
		d.fail(Duplicate)
		return false
	}
	e.seen |= member
	return true
}

// shape returns the shape of data, which has been read to its end.
func (e *envelope) shape(data []byte) Shape {
	s := Shape{Object: e.object, OK: e.ok, Success: e.success, HasOK: e.seen&seenOK != 0, HasSuccess: e.seen&seenSuccess != 0}
	if e.error == 0 {
		return s // a message alone is data of a success, not worth a copy
	}
	s.Error, s.HasError = e.text(data, e.error)
	s.Message, s.HasMessage = e.text(data, e.message)
	return s
}

// text copies the string that begins at data[i], if there is one.
func (e *envelope) text(data []byte, i int) (text string, is bool) {
	if i == 0 || data[i] != '"' {
		return "", false
	}
	return string(scanText(data, i).decode(data, nil)), true
}
