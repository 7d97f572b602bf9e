package wire

// The contract leaves some envelopes open: a list or a record may come bare or
// as a member of an object. These functions read both forms.

// UnmarshalList decodes a list that is either data itself or its member of the
// given name. In data's other members is nothing that a list could hold.
func UnmarshalList[T any, P record[T]](data []byte, member string) ([]T, error) {
	e := enveloped{member: member}
	var list []T
	e.read = func(d *Decoder) { list = List[T, P](d) }
	e.bare = firstByte(data) == '['
	err := Unmarshal(data, &e)
	return list, err
}

// UnmarshalRecord decodes a record that is either data itself or its member of
// the given name.
func UnmarshalRecord(data []byte, member string, v Value) error {
	if !hasObject(data, member) {
		return Unmarshal(data, v)
	}
	return Unmarshal(data, &enveloped{member: member, read: func(d *Decoder) { d.Record(v) }})
}

// enveloped is a value that stands bare or as the one member of interest.
type enveloped struct {
	member string
	read   func(*Decoder)
	bare   bool
}

// DecodeWire implements [Value].
func (e *enveloped) DecodeWire(d *Decoder) error {
	if e.bare {
		e.read(d)
		return d.Err()
	}
	var seen uint64
	for d.Object(); d.Member(); {
		if string(d.Name()) != e.member {
			d.Skip()
			continue
		}
		d.Once(&seen, 1)
		e.read(d)
	}
	d.Require(seen, 1, []string{e.member})
	return d.Err()
}

// firstByte returns what data begins with behind space; 0 if it is empty.
func firstByte(data []byte) byte {
	if i := skipSpace(data, 0); i < len(data) {
		return data[i]
	}
	return 0
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
