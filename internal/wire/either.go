package wire

import "encoding/json"

// The contract leaves some envelopes open: a list or a record may come bare or
// as a member of an object. These values read both forms.

// Rows is a list of records that is the member of the given name of an object,
// of which nothing else matters. Each row is converted as soon as it is read, so
// that a long list is not in memory twice.
type Rows[W, T any, P Record[W]] struct {
	Member  string
	Bare    bool // the list may also come without the object
	Convert func(*W) T
	List    []T // not nil unless there was an error
}

// DecodeWire implements [Value].
func (r *Rows[W, T, P]) DecodeWire(d *Decoder) error {
	r.List = nil
	if r.Bare && d.peek() == '[' {
		r.read(d)
		return d.Err()
	}
	d.memberOnly(r.Member, r.read)
	return d.Err()
}

func (r *Rows[W, T, P]) read(d *Decoder) {
	row := new(W)
	r.List = list(d, func(to *T) {
		d.Record(P(row))
		*to = r.Convert(row)
	})
}

// Either is a record that is either the value itself or its member of the given
// name.
type Either struct {
	Member string
	Record Value
}

// DecodeWire implements [Value].
func (e *Either) DecodeWire(d *Decoder) error {
	if hasObject(d.data[d.pos:], e.Member) {
		d.memberOnly(e.Member, func(d *Decoder) { d.Record(e.Record) })
	} else {
		d.Record(e.Record)
	}
	return d.Err()
}

// memberOnly reads one member of an object, which must be there, and skips the
// others.
func (d *Decoder) memberOnly(member string, read func(*Decoder)) {
	var seen uint64
	for d.Object(); d.Member(); {
		if string(d.Name()) != member {
			d.Skip()
			continue
		}
		d.Once(&seen, 1)
		read(d)
	}
	d.Require(seen, 1, []string{member})
}

// hasObject reports whether data is an object whose member of the given name
// is an object. Of data that is not well-formed it may say either.
func hasObject(data []byte, member string) bool {
	d := Decoder{input: data, data: data}
	if d.peek() != '{' {
		return false
	}
	for d.Object(); d.Member(); d.Skip() {
		if string(d.Name()) == member && d.peek() == '{' {
			return true
		}
	}
	return false
}

// Members is an object that the contract does not show: all that it has, as it
// came.
type Members map[string]json.RawMessage

// DecodeWire implements [Value].
func (m *Members) DecodeWire(d *Decoder) error {
	*m = nil
	for d.Object(); d.Member(); {
		d.Unknown((*map[string]json.RawMessage)(m))
	}
	return d.Err()
}
