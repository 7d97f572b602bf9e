// Package schema holds JSON against as much of JSON Schema as the descriptions of the simulator
// use. Only its tests need it.
package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema is one of an OpenAPI description.
type Schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Nullable   bool               `json:"nullable"`
	Required   []string           `json:"required"`
	Properties map[string]*Schema `json:"properties"`
	Items      *Schema            `json:"items"`
	Enum       []any              `json:"enum"`
	AllOf      []*Schema          `json:"allOf"`
	OneOf      []*Schema          `json:"oneOf"`
	AnyOf      []*Schema          `json:"anyOf"`
	Others     json.RawMessage    `json:"additionalProperties"`
}

// Set is the schemas that a reference can name.
type Set struct {
	Schemas map[string]*Schema
	Closed  bool // an object has nothing that is not described
}

// Last is the name at the end of a reference.
func Last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Check names what is wrong with a value, or nothing. Numbers are float64 or json.Number.
func (s Set) Check(at string, v any, of *Schema) error {
	switch {
	case of == nil:
		return nil
	case of.Ref != "":
		return s.Check(at, v, s.Schemas[Last(of.Ref)])
	case v == nil && (of.Nullable || of.Type == "" && len(of.AllOf) == 0):
		return nil
	case v == nil:
		return fmt.Errorf("%s is null", at)
	}
	for _, part := range of.AllOf {
		if err := s.Check(at, v, part); err != nil {
			return err
		}
	}
	var err error
	for _, part := range slices.Concat(of.OneOf, of.AnyOf) {
		if err = s.Check(at, v, part); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if len(of.Enum) > 0 && !slices.Contains(of.Enum, v) {
		return fmt.Errorf("%s is %v, not one of %v", at, v, of.Enum)
	}
	return s.checkType(at, v, of)
}

func (s Set) checkType(at string, v any, of *Schema) error {
	ok := true
	switch of.Type {
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "number", "integer":
		number, exact := v.(json.Number)
		_, ok = v.(float64)
		ok = ok || exact && (of.Type == "number" || !strings.Contains(number.String(), "."))
	case "array":
		list, is := v.([]any)
		ok = is
		for i, item := range list {
			if err := s.Check(fmt.Sprintf("%s[%d]", at, i), item, of.Items); err != nil {
				return err
			}
		}
	case "object":
		members, is := v.(map[string]any)
		if is {
			return s.checkMembers(at, members, of)
		}
		ok = false
	}
	if !ok {
		return fmt.Errorf("%s is %T, not %s", at, v, of.Type)
	}
	return nil
}

func (s Set) checkMembers(at string, members map[string]any, of *Schema) error {
	for _, name := range of.Required {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("%s has no %s", at, name)
		}
	}
	var others *Schema
	_ = json.Unmarshal(of.Others, &others) // true and false are none
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, described := of.Properties[name]
		if !described {
			if member = others; member == nil && s.Closed {
				return fmt.Errorf("%s.%s is not described", at, name)
			}
		}
		if err := s.Check(at+"."+name, members[name], member); err != nil {
			return err
		}
	}
	return nil
}
