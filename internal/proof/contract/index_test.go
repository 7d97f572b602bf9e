package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each operation is as its row says. Writes are the POSTs.
func TestIndex(t *testing.T) {
	all := operations(t)
	var rows []string
	for _, row := range reference {
		rows = append(rows, row.id)
	}
	same(t, "operations", sorted(all), rows)
	for _, want := range reference {
		op, ok := all[want.id]
		if !ok {
			continue
		}
		if op.method != want.method || op.path != want.path {
			t.Errorf("%s is %s %s, want %s %s", want.id, op.method, op.path, want.method, want.path)
		}
		if op.key != want.key || op.write != (want.method == "POST") {
			t.Errorf("%s takes key %q, write %t; want %q, %t", want.id, op.key, op.write, want.key, (want.method == "POST"))
		}
		if op.limitClass != want.limitClass || op.limit != want.perMinute {
			t.Errorf("%s counts against %q of %d, want %q of %d", want.id, op.limitClass, op.limit, want.limitClass, want.perMinute)
		}
		// Every live write takes the key of its intent, and nothing else does:
		// reads are never deduplicated, and the sandbox ignores the header.
		parameter := want.parameter
		if op.liveWrite() {
			parameter = "header Idempotency-Key optional"
		}
		assert.Equal(t, parameter, parametersOf(op), "%s takes", want.id)
		// Only what the sandbox takes without a body has none.
		takes := ""
		if body := op.RequestBody; body != nil {
			takes = schemaName(body.Value.Content)
			assert.True(t, body.Value.Required, "the body of %s is optional", want.id)
		}
		assert.Equal(t, want.takes, takes, "%s takes", want.id)
		assert.Equal(t, want.answers, schemaName(op.Responses.Value("200").Value.Content), "%s answers", want.id)
	}
}

func parametersOf(op operation) string {
	var all []string
	for _, p := range op.Parameters {
		need := "optional"
		if p.Value.Required {
			need = "required"
		}
		all = append(all, p.Value.In+" "+p.Value.Name+" "+need)
	}
	return strings.Join(all, ", ")
}

func TestSecurity(t *testing.T) {
	doc := contract(t)
	key, bearer := doc.Components.SecuritySchemes["ApiKey"].Value, doc.Components.SecuritySchemes["Bearer"].Value
	if key.Type != "apiKey" || key.In != "header" || key.Name != "X-API-Key" {
		t.Errorf("ApiKey is %s in %s %s", key.Type, key.In, key.Name)
	}
	if bearer.Type != "http" || bearer.Scheme != "bearer" {
		t.Errorf("Bearer is %s %s", bearer.Type, bearer.Scheme)
	}
	if len(doc.Components.SecuritySchemes) != 2 {
		t.Errorf("%d security schemes, want 2", len(doc.Components.SecuritySchemes))
	}
	if len(doc.Security) != 2 || doc.Security[0]["ApiKey"] == nil || doc.Security[1]["Bearer"] == nil {
		t.Errorf("security is %v, want ApiKey or else Bearer", doc.Security)
	}
	for id, op := range operations(t) {
		switch {
		case op.key == "none" && (op.Security == nil || len(*op.Security) != 0):
			t.Errorf("%s must ask for no key", id)
		case op.key != "none" && op.Security != nil:
			t.Errorf("%s overrides the security of the contract", id)
		}
	}
}

func TestIdempotencyKeyIsVisibleASCII(t *testing.T) {
	schema := contract(t).Components.Parameters["IdempotencyKey"].Value.Schema.Value
	long := make([]byte, 256)
	for i := range long {
		long[i] = '~'
	}
	for _, key := range []string{"a", "!", "~", string(long[:255])} {
		assert.NoError(t, schema.VisitJSON(key), "%q", key)
	}
	for _, key := range []string{"", " ", "a b", "a\n", "\x7f", "é", string(long)} {
		if schema.VisitJSON(key) == nil {
			t.Errorf("%q is accepted", key)
		}
	}
}
