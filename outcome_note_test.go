package trading

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What one answer leaves known of a live write and of its key, by what was known
// before it. The rows are those of DESIGN's write path: doubt sticks, only a success
// or the repeated refusal of the one attempt in doubt ends it, and a key is held by
// what the service says of it and by nothing else.
func TestNoteOutcome(t *testing.T) {
	refused := func(status int, code Code, replayed bool) func(*call) {
		return func(c *call) {
			c.answer, c.last.status = answerRefusal, status
			c.refusal = &Error{Code: code, Status: status, env: EnvLive}
			c.last.header = http.Header{}
			if replayed {
				c.last.header.Set("Idempotent-Replayed", "true")
			}
		}
	}
	answered := func(a answer) func(*call) { return func(c *call) { c.answer = a } }
	written := func(c *call) { c.answer, c.last.written = answerNone, true }
	inDoubt := func(c *call) { c.doubt, c.doubted, c.outcome = true, true, Unknown }
	sends := func(n int) func(*call) { return func(c *call) { c.keySends = n } }

	for _, row := range []struct {
		name    string
		before  []func(*call)
		answer  func(*call)
		outcome Outcome
		doubt   bool
		heard   heard
	}{
		{name: "a success", answer: answered(answerSuccess), outcome: Applied},
		{name: "a success after doubt", before: []func(*call){inDoubt, sends(3)}, answer: answered(answerSuccess), outcome: Applied},
		{name: "a refusal", answer: refused(400, CodeMinNotional, false), outcome: NotApplied},
		{name: "a refusal after doubt", before: []func(*call){inDoubt, sends(2)}, answer: refused(400, CodeMinNotional, false), outcome: Unknown, doubt: true},
		{name: "its repetition", before: []func(*call){inDoubt, sends(2)}, answer: refused(400, CodeMinNotional, true), outcome: NotApplied, heard: heard{held: true}},
		{name: "its repetition, after two in doubt", before: []func(*call){inDoubt, sends(3)}, answer: refused(400, CodeMinNotional, true), outcome: Unknown, doubt: true, heard: heard{held: true}},
		{
			name:   "its repetition, in doubt since before the call",
			before: []func(*call){inDoubt, sends(2), func(c *call) { c.begunInDoubt = true }},
			answer: refused(400, CodeMinNotional, true), outcome: Unknown, doubt: true, heard: heard{held: true},
		},
		{name: "the service failed", answer: refused(500, CodeInternalError, false), outcome: Unknown, doubt: true, heard: heard{failed: true}},
		{name: "it failed before it placed anything", answer: refused(503, CodeEquityUnavailable, false), outcome: NotApplied},
		{
			name:   "the result is not known, which holds the key and is no failure",
			answer: refused(409, CodeIdempotencyResultUnknown, false), outcome: Unknown, doubt: true, heard: heard{held: true},
		},
		{
			name:   "what was heard stays heard",
			before: []func(*call){func(c *call) { c.heard = heard{held: true, failed: true} }},
			answer: refused(400, CodeMinNotional, false), outcome: NotApplied, heard: heard{held: true, failed: true},
		},
		{name: "another order has the key", answer: refused(422, CodeIdempotencyKeyReused, false), outcome: NotApplied},
		{
			name:   "another order has the decision's key",
			before: []func(*call){func(c *call) { c.decision = "d" }},
			answer: refused(422, CodeIdempotencyKeyReused, false), outcome: Unknown, doubt: true,
		},
		{name: "somebody else's page", answer: answered(answerForeign), outcome: Unknown, doubt: true},
		{name: "a redirect", answer: answered(answerRedirect), outcome: Unknown, doubt: true},
		{name: "no answer, but it may have left", answer: written, outcome: Unknown, doubt: true},
		{name: "it cannot have left", answer: answered(answerNone), outcome: NotApplied},
		{name: "it cannot have left, after doubt", before: []func(*call){inDoubt}, answer: answered(answerNone), outcome: Unknown, doubt: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &call{endpoint: &endpointOrder, env: EnvLive, keySends: 1}
			for _, before := range row.before {
				before(c)
			}
			doubted := c.doubted
			row.answer(c)
			c.noteOutcome(c.rule())
			assert.Equal(t, row.outcome, c.outcome)
			assert.Equal(t, row.doubt, c.doubt, "doubt")
			assert.Equal(t, doubted || row.doubt, c.doubted, "there has been doubt")
			assert.Equal(t, row.heard, c.heard)
		})
	}
}

// A key is spent when nothing can run under it any more. Only then does the next try
// of a decision get another: beside a key that may still run, it would be a second
// order.
func TestSpent(t *testing.T) {
	refused := func(status int, code Code, replayed ...string) func(*call) {
		return func(c *call) {
			c.answer, c.last.status = answerRefusal, status
			c.refusal = &Error{Code: code, Status: status, env: EnvLive}
			c.last.header = http.Header{"Idempotent-Replayed": replayed}
		}
	}
	for _, row := range []struct {
		name  string
		given func(*call)
		want  bool
	}{
		{"never sent", func(c *call) { c.keySends = 0 }, false},
		{"never sent, but another call's refusal was of the key before", func(c *call) {
			refused(400, CodeMinNotional)(c)
			c.keySends, c.key = 0, "another"
		}, true},
		{"carried out", func(c *call) { c.answer = answerSuccess }, true},
		{"no answer", func(c *call) { c.answer = answerNone }, false},
		{"refused", refused(400, CodeMinNotional), true},
		{"a 429, which comes from in front", refused(429, CodeRateLimited), false},
		{"a 429 that is stored", refused(429, CodeRateLimited, "true"), true},
		{"the API key, which is asked for first", refused(401, CodeInvalidAPIKey), false},
		{"the last status that is stored", refused(499, "unheard_of"), true},
		{"the service failed", refused(500, CodeInternalError), false},
		{"no price, and nothing stored", refused(503, CodeNoPrice), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &call{endpoint: &endpointOrder, env: EnvLive, key: "k", journaled: "k", keySends: 1}
			row.given(c)
			assert.Equal(t, row.want, c.spent())
		})
	}
}
