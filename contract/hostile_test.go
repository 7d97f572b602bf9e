package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/contract"
)

// described is a description of one operation whose answer has a schema.
func described(schema, components string) []byte {
	return fmt.Appendf(nil, `{"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": %s}}}}}}},
		"components": {"schemas": %s}}`, schema, components)
}

func TestNoDescription(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"nothing":             {"", "EOF"},
		"a page":              {"<html>", "invalid character"},
		"a list":              {"[]", "cannot unmarshal array"},
		"null":                {"null", `version ""`},
		"cut off":             {string(contract.Description()[:1000]), "EOF"},
		"two":                 {`{"openapi": "3.0.3", "paths": {}} {}`, "something follows it"},
		"of another kind":     {`{"swagger": "2.0", "paths": {}}`, `version "", not 3.0`},
		"of a newer kind":     {`{"openapi": "3.1.0", "paths": {}}`, `version "3.1.0", not 3.0`},
		"no paths":            {`{"openapi": "3.0.3"}`, "no paths"},
		"too large":           {strings.Repeat(" ", 9<<20), "bytes"},
		"too deep":            {`{"a": ` + strings.Repeat("[", 300), "nested"},
		"an unknown name":     {string(described(`{"$ref": "#/components/schemas/A"}`, `{}`)), `"#/components/schemas/A" refers to nothing`},
		"another document":    {string(described(`{"$ref": "http://elsewhere.example/"}`, `{}`)), "another document"},
		"only itself":         {string(described(`{"$ref": "#/components/schemas/A"}`, `{"A": {"$ref": "#/components/schemas/A"}}`)), "refers to itself"},
		"made of itself":      {string(described(`{"$ref": "#/components/schemas/A"}`, `{"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}}`)), "an allOf holds itself"},
		"unknown credentials": {`{"openapi": "3.0.3", "security": [{"None": []}], "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}}}`, "refers to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := contract.Between(described(`{}`, `{}`), []byte(test.text))
			require.ErrorIs(t, err, contract.ErrDescription)
			assert.ErrorContains(t, err, test.want)
			_, err = contract.Between([]byte(test.text), described(`{}`, `{}`))
			require.ErrorIs(t, err, contract.ErrDescription)
		})
	}
}

// Schemas may hold themselves, in circles of different lengths.
func TestSchemasInCircles(t *testing.T) {
	one := described(`{"$ref": "#/components/schemas/A"}`, `{"A": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}}`)
	two := described(`{"type": "array", "items": {"$ref": "#/components/schemas/B"}}`,
		`{"B": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/components/schemas/B"}}}}`)
	for _, pair := range [][2][]byte{{one, two}, {two, one}, {two, two}} {
		changes, err := contract.Between(pair[0], pair[1])
		require.NoError(t, err)
		assert.Empty(t, changes)
	}
	three := described(`{"$ref": "#/components/schemas/A"}`,
		`{"A": {"type": "array", "items": {"type": "array", "nullable": true, "items": {"$ref": "#/components/schemas/A"}}}}`)
	changes, err := contract.Between(one, three)
	require.NoError(t, err)
	assert.Equal(t, []string{"breaking: A in answers: may be null (GET /a)"}, lines(changes))
}

// A description that would be compared with every part of the other, over and
// over, is given up.
func TestTooMuchToCompare(t *testing.T) {
	members := func(n int, schema string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `%s"m%d": %s`, strings.Repeat(",", min(i, 1)), i, schema)
		}
		return `{"type": "object", "properties": {` + text.String() + `}}`
	}
	const ref = `{"$ref": "#/components/schemas/A"}`
	was := described(members(200, `{"type": "object"}`), `{}`)
	_, err := contract.Between(was, described(ref, `{"A": `+members(200, ref)+`}`))
	require.NoError(t, err, "each pair is looked at once")
	_, err = contract.Between(was, described(members(200, ref), `{"A": `+members(3000, `{}`)+`}`))
	require.ErrorIs(t, err, contract.ErrDescription)
	assert.ErrorContains(t, err, "steps to compare")
}

// What a description says goes to a terminal and to a log.
func TestWhatIsSaidIsPrintable(t *testing.T) {
	changes, err := contract.Between(described(`{"type": "object"}`, `{}`),
		described(`{"type": "\u001b[2J", "x-known-values": ["a"]}`, `{}`))
	require.NoError(t, err)
	assert.Equal(t, []string{`breaking: GET /a 200: type is "\x1b[2J", was object`}, lines(changes))

	name := strings.Repeat("ä", 1000)
	changes, err = contract.Between(described(`{"type": "object"}`, `{}`),
		described(`{"type": "object", "properties": {"`+name+`": {}, "\n\u202e": {}}}`, `{}`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		`GET /a 200."\n\u202e": optional member added`,
		"GET /a 200." + name[:120] + "…: optional member added",
	}, lines(changes))
}

func FuzzBetween(f *testing.F) {
	circle := described(`{"$ref": "#/components/schemas/A"}`, `{"A": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}}`)
	composed := described(`{"allOf": [{"type": "object"}, {"required": ["a"]}], "oneOf": [{}, {"enum": [1, "a"]}], "additionalProperties": {"type": "string"}}`, `{}`)
	operation := []byte(`{"openapi": "3.0.0", "servers": [{"url": "/v1"}], "paths": {"/a/{b}": {"parameters": [{"in": "path", "name": "b"}], "get": {
		"requestBody": {"content": {"application/json": {"schema": {"type": "integer", "minimum": 1e5, "default": 3}}}}, "x-error-codes": [{"code": "a", "status": 400}],
		"responses": {"200": {"headers": {"A": {"schema": {"pattern": "a"}}}}}}}}}`)
	f.Add(circle, composed)
	f.Add(composed, circle)
	f.Add(operation, bytes.ReplaceAll(operation, []byte(`3}`), []byte(`4}`)))
	f.Fuzz(func(t *testing.T, was, is []byte) {
		changes, err := contract.Between(was, is)
		if err != nil {
			require.ErrorIs(t, err, contract.ErrDescription)
			return
		}
		for _, change := range changes {
			if line := change.String(); !utf8.ValidString(line) || strings.ContainsAny(line, "\n\x1b") || len(line) > 4096 {
				t.Errorf("%q", line)
			}
		}
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, is, "", " "))
		for _, again := range [][]byte{is, indented.Bytes()} {
			if same, err := contract.Between(is, again); err != nil || len(same) > 0 {
				t.Errorf("from itself: %v, %v", same, err)
			}
		}
	})
}
