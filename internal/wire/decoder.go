package wire

import (
	"encoding/json"
	"math/bits"
	"sync"
)

// Value is a type that reads itself from JSON. DecodeWire consumes one value
// and returns the decoder's error. What v held before is gone.
type Value interface {
	DecodeWire(d *Decoder) error
}

// Unmarshal decodes data, which must be one JSON value, into v. An error about
// the text is an [*JSONError]. After an error v holds what was read before it.
func Unmarshal(data []byte, v Value) error {
	_, err := Answer(data, v)
	return err
}

// Answer is [Unmarshal] that returns the shape of data as well.
func Answer(data []byte, v Value) (Shape, error) {
	d := decoders.Get().(*Decoder)
	d.input, d.data = data, data
	d.Record(v)
	err := d.Finish()
	var shape Shape
	if err == nil {
		shape = d.shapeOf(data)
	}
	buf := d.buf[:0]
	if cap(buf) > maxIdleBuf {
		buf = nil
	}
	*d = Decoder{buf: buf, recent: d.recent} // nothing that is part of data stays behind
	decoders.Put(d)
	return shape, err
}

// maxIdleBuf bounds what a decoder keeps for the next call.
const maxIdleBuf = 4096

// decoders are those that no call uses: records decode themselves behind an
// interface, so each decoder is on the heap.
var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// Decoder reads one JSON text from memory. It is written for generated code:
//
//	var seen uint64
//	for d.Object(); d.Member(); {
//		switch string(d.Name()) {
//		case "symbol":
//			d.Once(&seen, 1<<0)
//			v.Symbol = d.Text()
//		default:
//			d.Unknown(&v.Extra)
//		}
//	}
//	return d.Err()
//
// After the first mistake everything returns zero values, [Decoder.Member] and
// [Decoder.Element] return false, and the error stays.
type Decoder struct {
	input []byte
	data  []byte // input, or nothing after an error, so that nothing more is read
	pos   int
	depth int
	first bool   // just behind the opening bracket of an object or array
	name  []byte // of the current member
	buf   []byte // for texts with escapes
	err   error

	shape     Shape // as far as it is known, without its texts
	errorAt   int   // where their values begin; 0 without the member
	messageAt int

	recent *recent // nil before the first scalar
	listed bool    // in a list, or behind one
	chunk  []byte  // room for copies of raw values in lists
}

// NewDecoder returns a decoder of data, which may be reused once the decoder
// is done: nothing that it returns is part of data, except Name.
func NewDecoder(data []byte) *Decoder {
	return &Decoder{input: data, data: data}
}

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Finish checks that nothing follows the value, and returns the first error.
func (d *Decoder) Finish() error {
	if d.peek() != 0 || d.pos < len(d.data) {
		d.fail(TrailingData)
	}
	return d.err
}

// fail reports a problem at the current position.
func (d *Decoder) fail(problem Problem) { d.failAt(problem, d.pos) }

func (d *Decoder) failAt(problem Problem, offset int) {
	if d.err == nil {
		d.stop(&JSONError{Path: pathAt(d.input, offset, ""), Offset: offset, Problem: problem})
	}
}

func (d *Decoder) stop(err error) {
	d.err = err
	d.data, d.pos = nil, 0
}

// peek skips space and returns the byte that follows, 0 at the end. No JSON
// text has a zero byte outside of strings.
func (d *Decoder) peek() byte {
	d.pos = skipSpace(d.data, d.pos)
	if d.pos >= len(d.data) {
		return 0
	}
	return d.data[d.pos]
}

// mismatch reports that the next value is not of the wanted type.
func (d *Decoder) mismatch() {
	switch c := d.peek(); {
	case c == 0 && d.pos == len(d.data):
		d.fail(Truncated)
	case c == 'n' && hasLiteral(d.data, d.pos, "null"):
		d.fail(UnexpectedNull)
	default:
		// Tell apart what is no JSON at all.
		if end, problem := skipValue(d.data, d.pos, d.depth); problem != noProblem {
			d.failAt(problem, end)
			return
		}
		d.fail(WrongType)
	}
}

func (d *Decoder) open(bracket byte) {
	if d.peek() != bracket {
		d.mismatch()
		return
	}
	if d.depth == 0 {
		d.shape.Object = bracket == '{'
	}
	if d.depth == maxDepth {
		d.fail(TooDeep)
		return
	}
	d.depth++
	d.pos++
	d.first = true
}

// next goes on to the next member or element; false behind the last one.
func (d *Decoder) next(closing byte) bool {
	c := d.peek()
	if c == closing {
		d.first = false
		d.depth--
		d.pos++
		return false
	}
	if d.first {
		d.first = false
		return true
	}
	if c != ',' {
		d.unexpected()
		return false
	}
	d.pos++
	d.peek()
	return true
}

// unexpected reports the next byte as a mistake.
func (d *Decoder) unexpected() {
	if d.pos >= len(d.data) {
		d.fail(Truncated)
		return
	}
	d.fail(Syntax)
}

// Object enters an object. Call [Decoder.Member] until it returns false, and
// read one value after each call that returns true.
func (d *Decoder) Object() { d.open('{') }

// Member goes on to the next member of the object.
func (d *Decoder) Member() bool {
	if d.err != nil || !d.next('}') {
		return false
	}
	// The usual spelling: a plain name and its colon, with no space before it.
	data, i := d.data, d.pos+1
	for i < len(data) && plainByte[data[i]] {
		i++
	}
	if i+1 < len(data) && data[i] == '"' && data[i+1] == ':' && data[d.pos] == '"' {
		d.name = data[d.pos+1 : i]
		d.pos = skipSpace(data, i+2)
		return d.depth > 1 || d.noteMember()
	}
	name, value, problem := scanName(d.data, d.pos)
	if problem != noProblem {
		d.failAt(problem, value)
		return false
	}
	d.name = name.decode(d.data, d.buf)
	if !name.verbatim {
		d.buf = d.name
	}
	d.pos = value
	return d.depth > 1 || d.noteMember()
}

// Name returns the name of the current member, exactly as it is spelled. It is
// valid until the value is read.
func (d *Decoder) Name() []byte { return d.name }

// Array enters an array. Call [Decoder.Element] until it returns false, and
// read one value after each call that returns true.
func (d *Decoder) Array() { d.open('[') }

// Element goes on to the next element of the array.
func (d *Decoder) Element() bool { return d.err == nil && d.next(']') }

// Once notes that the current member is there, and fails if it was before.
func (d *Decoder) Once(seen *uint64, member uint64) {
	if *seen&member != 0 {
		d.fail(Duplicate)
	}
	*seen |= member
}

// Require fails unless all the required members were seen. It is called behind
// the end of the object; bit n of a mask is for names[n].
func (d *Decoder) Require(seen, required uint64, names []string) {
	missing := required &^ seen
	if missing == 0 || d.err != nil {
		return
	}
	name := names[bits.TrailingZeros64(missing)]
	bracket := d.pos - 1
	d.stop(&JSONError{Path: pathAt(d.input, bracket, name), Offset: bracket, Problem: Missing})
}

// Record reads a value of a type that decodes itself. It may not be null.
func (d *Decoder) Record(v Value) {
	if err := v.DecodeWire(d); err != nil && d.err == nil {
		d.stop(err)
	}
}

// Raw reads any value and returns a copy of its text.
func (d *Decoder) Raw() json.RawMessage {
	start, end := d.skip()
	if start == end {
		return nil
	}
	return d.copy(d.data[start:end])
}

// Skip reads any value and drops it.
func (d *Decoder) Skip() { d.skip() }

func (d *Decoder) skip() (start, end int) {
	d.peek()
	start = d.pos
	end, problem := skipValue(d.data, start, d.depth)
	if problem != noProblem {
		d.failAt(problem, end)
		return 0, 0
	}
	d.pos = end
	return start, end
}

// Unknown keeps the current member, which the type does not know.
func (d *Decoder) Unknown(extra *map[string]json.RawMessage) {
	start := d.pos
	name := d.string(d.name)
	raw := d.Raw()
	if d.err != nil {
		return
	}
	if *extra == nil {
		*extra = make(map[string]json.RawMessage)
	}
	before := len(*extra)
	(*extra)[name] = raw
	if len(*extra) == before {
		d.failAt(Duplicate, start)
	}
}
