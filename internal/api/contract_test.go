package api

import (
	"encoding/json"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contract is what these tests need of openapi.json.
type contract struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Schema   *schema
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Pattern              string
	Nullable             bool
	Enum                 []string
	Known                []string `json:"x-known-values"`
	Required             []string
	Properties           map[string]*schema
	AdditionalProperties json.RawMessage
	Items                *schema
	AllOf                []*schema
	OneOf                []*schema
	AnyOf                []*schema
}

func readContract(tb testing.TB) *contract {
	tb.Helper()
	data, err := os.ReadFile("../../openapi.json")
	require.NoError(tb, err)
	var c contract
	require.NoError(tb, json.Unmarshal(data, &c))
	for _, s := range c.Components.Schemas {
		for _, part := range s.AllOf {
			part = c.resolve(part)
			s.Required = append(s.Required, part.Required...)
			for name, property := range part.Properties {
				if s.Properties == nil {
					s.Properties = map[string]*schema{}
				}
				s.Properties[name] = property
			}
		}
	}
	return &c
}

// resolve follows references to the schema that describes the value.
func (c *contract) resolve(s *schema) *schema {
	for {
		switch {
		case s.Ref != "":
			s = c.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		case len(s.AnyOf) == 2: // a component or null
			s = s.AnyOf[0]
		default:
			return s
		}
	}
}

// isRecord reports whether the schema is a record of an answer. The contract
// lets those have further members, the bodies of requests not.
func (s *schema) isRecord() bool {
	return s.Type == "object" && string(s.AdditionalProperties) == "true"
}

func (s *schema) isRequest() bool { return s.Type == "object" && s.AdditionalProperties == nil }

func (s *schema) requires(member string) bool {
	for _, name := range s.Required {
		if name == member {
			return true
		}
	}
	return false
}

// members returns the names of the members in a fixed order.
func (s *schema) members() []string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// example returns a valid value with every member there and not null.
func (c *contract) example(s *schema) string {
	s = c.resolve(s)
	switch {
	case len(s.OneOf) > 0:
		return `"2026-11-02T09:30:00.250Z"` // all open scalars but one are time stamps
	case s.Type == "object" && !s.isRecord() && !s.isRequest():
		return `{"BTC":64010.5,"ETH":3200}`
	case s.Type == "object":
		return object(c.exampleMembers(s))
	case s.Type == "array":
		return "[" + c.example(s.Items) + "," + c.example(s.Items) + "]"
	case s.Type == "number":
		return "64010.25"
	case s.Type == "integer":
		return "1793612760000"
	case s.Type == "boolean":
		return "true"
	case s.Pattern != "":
		return `"-12.50"`
	case len(s.Known) > 0:
		return `"` + s.Known[0] + `"`
	}
	return `"2026-11-02T09:30:00.250Z"`
}

// member is a member as it is spelled in a JSON text.
type member struct{ name, value string }

func (c *contract) exampleMembers(s *schema) []member {
	var list []member
	for _, name := range s.members() {
		list = append(list, member{name, c.example(s.Properties[name])})
	}
	return list
}

func object(members []member) string {
	var b strings.Builder
	for i, m := range members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + m.name + `": ` + m.value)
	}
	return "{" + b.String() + "}"
}
