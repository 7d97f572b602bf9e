package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The path of the contract, seen from this directory.
const contractFile = "../../../openapi.json"

var load = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile(contractFile)
})

func contract(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := load()
	require.NoError(t, err)
	return doc
}

// operation is an operation of the contract with what its extensions say.
type operation struct {
	*openapi3.Operation
	method, path string
	key          string // x-key
	write        bool   // x-write
	limitClass   string // x-limit-class
	limit        int    // x-limit-per-minute
	codes        []errorCode
}

// errorCode is an element of x-error-codes.
type errorCode struct {
	Code        string `json:"code"`
	Status      int    `json:"status"`
	StatusRange string `json:"statusRange"`
}

func (o operation) sandbox() bool   { return o.key == "test" }
func (o operation) live() bool      { return o.key == "live" }
func (o operation) liveWrite() bool { return o.live() && o.write }

func (o operation) has(code string, status int) bool {
	return slices.ContainsFunc(o.codes, func(c errorCode) bool { return c.Code == code && c.Status == status })
}

// statuses are those under which the operation documents a code.
func (o operation) statuses(code string) []int {
	var found []int
	for _, c := range o.codes {
		if c.Code == code {
			found = append(found, c.Status)
		}
	}
	return found
}

// operations returns every operation of the contract by its identifier.
func operations(t *testing.T) map[string]operation {
	t.Helper()
	all := map[string]operation{}
	for path, item := range contract(t).Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{Operation: op, method: method, path: path}
			extension(t, op, "x-key", &o.key)
			extension(t, op, "x-write", &o.write)
			extension(t, op, "x-error-codes", &o.codes)
			if o.key == "live" && o.write {
				extension(t, op, "x-limit-class", &o.limitClass)
				extension(t, op, "x-limit-per-minute", &o.limit)
			} else if op.Extensions["x-limit-class"] != nil || op.Extensions["x-limit-per-minute"] != nil {
				t.Errorf("%s names a limit that only live writes have", op.OperationID)
			}
			if _, taken := all[op.OperationID]; taken {
				t.Errorf("operationId %q is used twice", op.OperationID)
			}
			all[op.OperationID] = o
		}
	}
	return all
}

// extension decodes an extension of an operation, which must be there.
func extension(t *testing.T, op *openapi3.Operation, name string, into any) {
	t.Helper()
	value, ok := op.Extensions[name]
	require.True(t, ok, "%s has no %s", op.OperationID, name)
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), "%s of %s", name, op.OperationID)
}

// whole is a schema with the members that its allOf adds.
func whole(schema *openapi3.Schema) *openapi3.Schema {
	if len(schema.AllOf) == 0 {
		return schema
	}
	folded := *schema
	folded.Properties = maps.Clone(schema.Properties)
	if folded.Properties == nil {
		folded.Properties = openapi3.Schemas{}
	}
	folded.Required = slices.Clone(schema.Required)
	for _, part := range schema.AllOf {
		part := whole(part.Value)
		maps.Copy(folded.Properties, part.Properties)
		folded.Required = append(folded.Required, part.Required...)
	}
	return &folded
}

func sorted[M ~map[K]V, K cmp.Ordered, V any](m M) []K { return slices.Sorted(maps.Keys(m)) }

// same reports what two lists do not share.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, x := range got {
		assert.Contains(t, want, x, "%s: %s is not in the reference: add its row to reference_test.go or codes_test.go", what, x)
	}
	for _, x := range want {
		assert.Contains(t, got, x, "%s: openapi.json lacks %s", what, x)
	}
}

func TestValidOpenAPI(t *testing.T) {
	doc := contract(t)
	assert.Equal(t, "3.0.3", doc.OpenAPI, "openapi")
	assert.Equal(t, "v1", doc.Info.Version, "version")
	err := doc.Validate(context.Background(),
		openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaFormatValidation(),
		openapi3.EnableSchemaPatternValidation(),
		openapi3.EnableMultiError(),
	)
	assert.NoError(t, err)
}

// The linters of .ci/lint-openapi ask for the texts of operations and tags.
func TestTextForReaders(t *testing.T) {
	doc := contract(t)
	used := map[string]bool{}
	for _, op := range operations(t) {
		for _, tag := range op.Tags {
			used[tag] = true
		}
	}
	for _, tag := range doc.Tags {
		assert.True(t, used[tag.Name], "tag %s is on no operation", tag.Name)
	}
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for member, property := range schema.Value.Properties {
			if property.Value.Description == "" {
				t.Errorf("%s.%s has no description", name, member)
			}
		}
	}
}
