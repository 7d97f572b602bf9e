package tradingsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/shopspring/decimal"
)

// requestLine is a request in the log: its body as text, and without what is empty.
type requestLine struct {
	ID             int64       `json:"id"`
	At             time.Time   `json:"at"`
	Operation      string      `json:"operation"`
	Path           string      `json:"path"`
	Header         http.Header `json:"header"`
	Body           string      `json:"body"`
	KeyFingerprint string      `json:"keyFingerprint,omitempty"`
	Connection     string      `json:"connection"`
	Fault          string      `json:"fault,omitempty"`
	Status         int         `json:"status,omitempty"`
	Code           string      `json:"code,omitempty"`
	RetryAfter     int         `json:"retryAfter,omitempty"`
	MarkMissing    bool        `json:"markMissing,omitempty"`
	AnsweredAt     time.Time   `json:"answeredAt,omitzero"`
	Delivered      bool        `json:"delivered"`
}

// MarshalJSON writes the body as text, and leaves out what is empty.
func (r Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(requestLine{
		r.ID, r.At, r.Operation, r.Path, r.Header, string(r.Body), r.KeyFingerprint, r.Connection,
		r.Fault, r.Status, r.Code, r.RetryAfter, r.MarkMissing, r.AnsweredAt, r.Delivered,
	})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (r *Request) UnmarshalJSON(text []byte) error {
	var l requestLine
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	*r = Request{
		l.ID, l.At, l.Operation, l.Path, l.Header, []byte(l.Body), l.KeyFingerprint, l.Connection,
		l.Fault, l.Status, l.Code, l.RetryAfter, l.MarkMissing, l.AnsweredAt, l.Delivered,
	}
	return nil
}

// executionLine is an execution in the log, with its amounts and its body as text.
type executionLine struct {
	ID        int64     `json:"id"`
	At        time.Time `json:"at"`
	Operation string    `json:"operation,omitempty"`
	Account   string    `json:"account,omitempty"`
	Symbol    string    `json:"symbol,omitempty"`
	Side      string    `json:"side,omitempty"`
	Request   int64     `json:"request,omitempty"`
	Copy      bool      `json:"copy"`
	Key       string    `json:"key,omitempty"`
	Body      string    `json:"body,omitempty"`
	Actor     string    `json:"actor"`
	Filled    bool      `json:"filled"`
	Size      string    `json:"size,omitempty"`
	Price     string    `json:"price,omitempty"`
}

// MarshalJSON writes amounts and the body as text, and leaves out what is empty.
func (e Execution) MarshalJSON() ([]byte, error) {
	amount := func(d decimal.Decimal) string {
		if d.IsZero() {
			return ""
		}
		return d.String()
	}
	return json.Marshal(executionLine{
		e.ID, e.At, e.Operation, e.Account, e.Symbol, e.Side, e.Request, e.Copy, e.Key, string(e.Body), e.Actor, e.Filled,
		amount(e.Size), amount(e.Price),
	})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (e *Execution) UnmarshalJSON(text []byte) error {
	var l executionLine
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	*e = Execution{
		ID: l.ID, At: l.At, Operation: l.Operation, Account: l.Account, Symbol: l.Symbol, Side: l.Side, Request: l.Request,
		Copy: l.Copy, Key: l.Key, Actor: l.Actor, Filled: l.Filled,
	}
	if l.Body != "" {
		e.Body = []byte(l.Body)
	}
	var wrong error
	amount := func(name, text string) (d decimal.Decimal) {
		if text != "" {
			var err error
			if d, err = parseNumber(text); err != nil {
				wrong = fmt.Errorf("tradingsim: %s of execution %d: %w", name, l.ID, err)
			}
		}
		return d
	}
	e.Size, e.Price = amount("size", l.Size), amount("price", l.Price)
	return wrong
}
