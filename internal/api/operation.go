package api

// Operation is what the contract says about an endpoint.
type Operation struct {
	ID     string
	Method string
	Path   string // a template such as /accounts/{accountId}, from the versioned root

	Key   KeyKind // which API key it takes
	Write bool    // whether it changes something

	// LimitClass names the per-user rate limit of a live write, LimitPerMinute is
	// its size. Both are zero for everything else.
	LimitClass     string
	LimitPerMinute int

	Refusals []Refusal // the documented ones
}

// KeyKind says which API key an operation takes.
type KeyKind string

// The kinds of keys.
const (
	KeyNone KeyKind = "none" // the key is never sent
	KeyAny  KeyKind = "any"
	KeyTest KeyKind = "test" // pk_test_
	KeyLive KeyKind = "live" // pk_live_
)

// Refusal is a pair of status and code that an operation documents.
type Refusal struct {
	Status int
	Code   string
}
