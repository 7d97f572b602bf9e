package tradingsim

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// The forms of a request and of an execution in the log: their own, with body and amounts as text.
type (
	requestFields   Request
	executionFields Execution
	requestLine     struct {
		*requestFields
		Body string `json:"body"`
	}
	executionLine struct {
		*executionFields
		Body  string `json:"body,omitempty"`
		Size  string `json:"size,omitempty"`
		Price string `json:"price,omitempty"`
	}
)

// MarshalJSON writes the body as text, and leaves out what is empty.
func (r Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(requestLine{(*requestFields)(&r), string(r.Body)})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (r *Request) UnmarshalJSON(text []byte) error {
	l := requestLine{requestFields: new(requestFields)}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	*r = Request(*l.requestFields)
	r.Body = []byte(l.Body)
	return nil
}

// MarshalJSON writes amounts and the body as text, and leaves out what is empty.
func (e Execution) MarshalJSON() ([]byte, error) {
	l := executionLine{executionFields: (*executionFields)(&e), Body: string(e.Body)}
	if !e.Size.IsZero() {
		l.Size = e.Size.String()
	}
	if !e.Price.IsZero() {
		l.Price = e.Price.String()
	}
	return json.Marshal(l)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (e *Execution) UnmarshalJSON(text []byte) error {
	l := executionLine{executionFields: new(executionFields)}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	*e = Execution(*l.executionFields)
	if l.Body != "" {
		e.Body = []byte(l.Body)
	}
	var size, price error
	e.Size, size = parseNumber(cmp.Or(l.Size, "0"))
	e.Price, price = parseNumber(cmp.Or(l.Price, "0"))
	if err := cmp.Or(size, price); err != nil {
		return fmt.Errorf("tradingsim: an amount of execution %d: %w", e.ID, err)
	}
	return nil
}
