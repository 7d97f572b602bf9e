package wire

// Opt is a member that may be absent, null, or a value. The zero value is
// absent. It needs no pointer, so it costs no allocation.
type Opt[T any] struct {
	value T
	state optState
}

type optState uint8

const (
	optAbsent optState = iota
	optNull
	optValue
)

// Some returns a member with a value.
func Some[T any](value T) Opt[T] {
	return Opt[T]{value: value, state: optValue}
}

// Null returns a member that is null.
func Null[T any]() Opt[T] {
	return Opt[T]{state: optNull}
}

// Get returns the value; ok is false if the member is absent or null.
func (o Opt[T]) Get() (value T, ok bool) {
	return o.value, o.state == optValue
}

// Value returns the value itself; nil if the member is absent or null.
func (o *Opt[T]) Value() *T {
	if o.state != optValue {
		return nil
	}
	return &o.value
}

// IsAbsent reports whether the member is not there at all.
func (o Opt[T]) IsAbsent() bool { return o.state == optAbsent }

// IsNull reports whether the member is there and null.
func (o Opt[T]) IsNull() bool { return o.state == optNull }

// Set makes o a member that is v.
func (o *Opt[T]) Set(v T) { o.value, o.state = v, optValue }

// SetNull makes o a member that is null.
func (o *Opt[T]) SetNull() { o.state = optNull }
