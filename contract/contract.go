package contract

import (
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed openapi.json
var description string

// Description returns the OpenAPI description that this version of the client was
// built from. It does not describe GET /openapi.json.
func Description() json.RawMessage { return json.RawMessage(description) }

// Change is one difference between two descriptions.
type Change struct {
	// Where is the place: an operation ("POST /orders"), a part of one ("POST
	// /orders header Idempotency-Key"), or the path of a member from the named
	// schema that it belongs to, with the direction ("OrderRequest.size in
	// requests", "LivePosition.markPrice in answers").
	Where string
	// What changed, in words: "required, was optional".
	What string
	// Breaking means that a program built on the older description may fail.
	Breaking bool
	// Operations are those that it shows in, sorted; none if it is of the
	// description as a whole.
	Operations []string
}

// String is the change in a line, which begins with "breaking: " if it is.
func (c Change) String() string {
	text := c.Where + ": " + c.What
	if c.Breaking {
		text = "breaking: " + text
	}
	// An operation's own change names it already.
	if len(c.Operations) == 1 && !strings.HasPrefix(c.Where, c.Operations[0]) {
		text += " (" + c.Operations[0] + ")"
	}
	if len(c.Operations) > 1 {
		text += fmt.Sprintf(" (%s and %d more)", c.Operations[0], len(c.Operations)-1)
	}
	return text
}

// Breaking reports whether any of the changes is.
func Breaking(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Breaking })
}

// Compare returns what differs in a served description from [Description]: the
// breaking changes first, then by place. It returns none for the same
// description, however written, and an error that is [ErrDescription] for what is
// no description.
func Compare(served []byte) ([]Change, error) {
	return Between([]byte(description), served)
}

// Between returns what changed from one description to another, as [Compare] does.
// Both have to be OpenAPI 3.0 in JSON.
func Between(was, is []byte) ([]Change, error) {
	older, err := whole(was)
	if err != nil {
		return nil, fmt.Errorf("the older: %w", err)
	}
	newer, err := whole(is)
	if err != nil {
		return nil, fmt.Errorf("the newer: %w", err)
	}
	c := newComparison(older, newer)
	if err := c.run(); err != nil {
		return nil, err
	}
	return c.changes(), nil
}

// whole parses a description, and compares it with itself: what is broken in it shows also where the
// other has nothing to compare it with.
func whole(text []byte) (*document, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	return d, newComparison(d, d).run()
}
