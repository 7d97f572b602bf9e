package wire

// Record is a pointer to T that decodes itself.
type Record[T any] interface {
	*T
	Value
}

// Optional reads a member that may be null, with read for its value. Null is
// kept: services write it for absent, and losing an answer over that is worse.
func Optional[T any](d *Decoder, read func(*Decoder) T) Nullable[T] {
	if d.Null() {
		return Null[T]()
	}
	return Some(read(d))
}

// OptionalRecord is [Optional] for a type that decodes itself. It fills the
// member in place: a record that is handed over costs an allocation.
func OptionalRecord[T any, P Record[T]](d *Decoder, member *Nullable[T]) {
	if d.Null() {
		member.state = optNull
		return
	}
	member.state = optValue
	d.Record(P(&member.value))
}

// List reads an array of values of type T. It is not nil unless there was an
// error.
func List[T any, P Record[T]](d *Decoder) []T {
	return list(d, func(to *T) { d.Record(P(to)) })
}

// list reads an array, each element by read, which is given a zero T.
func list[T any](d *Decoder, read func(*T)) []T {
	list := []T{}
	d.listed = true
	d.Array()
	for start := d.pos; d.Element(); {
		if len(list) == cap(list) {
			list = grow(list, d.pos-start, len(d.data)-d.pos)
		}
		list = list[:len(list)+1] // room is zero: it was never used
		read(&list[len(list)-1])
	}
	if d.err != nil {
		return nil
	}
	return list
}

// grow makes room for the elements to come: as many as the rest of the input
// holds if they are as long as those before them, which is usually all of them
// at once. read is the length of those before, rest that of what follows.
func grow[T any](list []T, read, rest int) []T {
	const (
		// Most lists are of one position, or of hundreds of rows.
		firstStep = 1
		// Elements are taken to be no shorter, so that a few empty ones in front
		// do not make room out of all proportion to the input.
		minLength = 64
	)
	if len(list) == 0 {
		return make([]T, 0, firstStep)
	}
	expected := rest / max(read/len(list), minLength)
	room := max(expected+expected/16+1, len(list)) // at least doubling: copies stay linear
	grown := make([]T, len(list), len(list)+room)
	copy(grown, list)
	return grown
}

// Map reads an object whose members are data, such as prices by symbol. Each
// may be null. The map is not nil unless there was an error.
func Map[T any](d *Decoder, read func(*Decoder) T) map[string]Nullable[T] {
	m := make(map[string]Nullable[T])
	for d.Object(); d.Member(); {
		start, before := d.pos, len(m)
		name := string(d.Name())
		m[name] = Optional(d, read)
		if len(m) == before {
			d.failAt(Duplicate, start)
		}
	}
	if d.err != nil {
		return nil
	}
	return m
}
