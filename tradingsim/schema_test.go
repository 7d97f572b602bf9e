package tradingsim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schema is as much of a JSON Schema as openapi.json uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Nullable    bool               `json:"nullable"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	AllOf       []*schema          `json:"allOf"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
	Additionals json.RawMessage    `json:"additionalProperties"`
}

// response is a response of the contract, or a reference to one.
type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema   *schema            `json:"schema"`
		Examples map[string]example `json:"examples"`
	} `json:"content"`
}

// example is one of a code, or a reference to one.
type example struct {
	Ref   string `json:"$ref"`
	Value struct {
		Error string `json:"error"`
	} `json:"value"`
}

type contract struct {
	Paths map[string]map[string]struct {
		Responses map[string]response `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas   map[string]*schema  `json:"schemas"`
		Responses map[string]response `json:"responses"`
		Examples  map[string]example  `json:"examples"`
	} `json:"components"`
}

// theContract is read from the file that all parts of the project share, not
// from the copy that the simulation serves.
var theContract = sync.OnceValue(func() *contract {
	text, err := os.ReadFile("../openapi.json")
	if err != nil {
		panic(err)
	}
	var c contract
	if err := json.Unmarshal(text, &c); err != nil {
		panic(err)
	}
	return &c
})

// find is the contract's response to an operation, such as "GET /me".
func (c *contract) find(operation string, status int) (response, bool) {
	method, path, _ := strings.Cut(operation, " ")
	responses := c.Paths[path][strings.ToLower(method)].Responses
	r, ok := responses[strconv.Itoa(status)]
	if !ok {
		r, ok = responses[fmt.Sprintf("%dXX", status/100)]
	}
	if r.Ref != "" {
		r = c.Components.Responses[last(r.Ref)]
	}
	return r, ok
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// check names what is wrong with a value, or nothing.
func (c *contract) check(at string, v any, s *schema) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return c.check(at, v, c.Components.Schemas[last(s.Ref)])
	}
	if v == nil {
		if s.Nullable || s.Type == "" && len(s.AllOf) == 0 {
			return nil
		}
		return fmt.Errorf("%s is null", at)
	}
	for _, part := range s.AllOf {
		if err := c.check(at, v, part); err != nil {
			return err
		}
	}
	if either := append(slices.Clone(s.OneOf), s.AnyOf...); len(either) > 0 {
		var err error
		for _, part := range either {
			if err = c.check(at, v, part); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s is %v, not one of %v", at, v, s.Enum)
	}
	return c.checkType(at, v, s)
}

func (c *contract) checkType(at string, v any, s *schema) error {
	ok := true
	switch s.Type {
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "number":
		_, ok = v.(json.Number)
	case "integer":
		n, is := v.(json.Number)
		ok = is && !strings.Contains(n.String(), ".")
	case "array":
		list, is := v.([]any)
		ok = is
		for i, item := range list {
			if err := c.check(fmt.Sprintf("%s[%d]", at, i), item, s.Items); err != nil {
				return err
			}
		}
	case "object":
		return c.checkObject(at, v, s)
	}
	if !ok {
		return fmt.Errorf("%s is %T, not %s", at, v, s.Type)
	}
	return nil
}

func (c *contract) checkObject(at string, v any, s *schema) error {
	members, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %T, not object", at, v)
	}
	for _, name := range s.Required {
		if _, ok := members[name]; !ok {
			return fmt.Errorf("%s has no %s", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := c.check(at+"."+name, members[name], s.Properties[name]); err != nil {
			return err
		}
	}
	return nil
}

// codes are the codes that the contract documents, in examples of refusals.
func (c *contract) codes() []string {
	all := map[string]bool{}
	for _, item := range c.Paths {
		for _, operation := range item {
			for _, r := range operation.Responses {
				if r.Ref != "" {
					r = c.Components.Responses[last(r.Ref)]
				}
				for _, e := range r.Content["application/json"].Examples {
					if e.Ref != "" {
						e = c.Components.Examples[last(e.Ref)]
					}
					all[e.Value.Error] = true
				}
			}
		}
	}
	delete(all, "") // examples of successes
	return slices.Sorted(maps.Keys(all))
}
