package wire

// Nullable is a member that may be absent, null, or a value. The zero value is
// absent. It needs no pointer, so it costs no allocation.
type Nullable[T any] struct {
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
func Some[T any](value T) Nullable[T] {
	return Nullable[T]{value: value, state: optValue}
}

// Null returns a member that is null.
func Null[T any]() Nullable[T] {
	return Nullable[T]{state: optNull}
}

// Get returns the value; ok is false if the member is absent or null.
func (o Nullable[T]) Get() (value T, ok bool) {
	return o.value, o.state == optValue
}

// Value returns the value itself; nil if the member is absent or null.
func (o *Nullable[T]) Value() *T {
	if o.state != optValue {
		return nil
	}
	return &o.value
}

// IsAbsent reports whether the member is not there at all.
func (o Nullable[T]) IsAbsent() bool { return o.state == optAbsent }

// IsNull reports whether the member is there and null.
func (o Nullable[T]) IsNull() bool { return o.state == optNull }

// Set makes o a member that is v.
func (o *Nullable[T]) Set(v T) { o.value, o.state = v, optValue }

// SetNull makes o a member that is null.
func (o *Nullable[T]) SetNull() { o.state = optNull }
