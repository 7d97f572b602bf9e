// Package wire reads and writes the service's JSON: a strict scanner and a set
// of appenders, without reflection, for the generated code of internal/api.
//
// It is stricter than encoding/json where a mistake could cost money (keys are
// exact and unique, numbers never pass through a float, required members must
// be there) and as tolerant where a strict reader would lose a whole answer
// over a detail (unknown members, odd time stamps, invalid UTF-8).
//
// Nothing decoded points into the input: a caller may reuse its buffer.
package wire
