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
// without decoding it. The error is an [*JSONError].
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

// noteMember notes a member of the top level if it is one of the four of a shape; false if it was
// there before, because then two readers may see two answers.
func (d *Decoder) noteMember() bool {
	s, twice := &d.shape, false
	switch string(d.name) {
	case "ok":
		twice, s.HasOK = s.HasOK, true
		s.OK = hasLiteral(d.data, d.pos, "true")
	case "success":
		twice, s.HasSuccess = s.HasSuccess, true
		s.Success = hasLiteral(d.data, d.pos, "true")
	case "error":
		twice, d.errorAt = d.errorAt > 0, d.pos
	case "message":
		twice, d.messageAt = d.messageAt > 0, d.pos
	}
	if twice {
		d.fail(Duplicate)
	}
	return !twice
}

// shapeOf returns the shape of data, which has been read to its end.
func (d *Decoder) shapeOf(data []byte) Shape {
	s := d.shape
	if d.errorAt == 0 {
		return s // a message alone is data of a success, not worth a copy
	}
	s.Error, s.HasError = textAt(data, d.errorAt)
	s.Message, s.HasMessage = textAt(data, d.messageAt)
	return s
}

// textAt copies the string that begins at data[i], if there is one.
func textAt(data []byte, i int) (text string, is bool) {
	if i == 0 || data[i] != '"' {
		return "", false
	}
	return string(scanText(data, i).decode(data, nil)), true
}
