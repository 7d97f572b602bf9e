package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
)

// description is what the tables need of the service's description, in its order.
type description struct {
	operations []operation
	codes      []code
	schemas    map[string]schema
	records    []string // the schemas of answers that can have further members
	requests   []string // those of bodies
}

// schema is what is read of a schema.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	AllOf      []schema          `json:"allOf"`
	Properties map[string]schema `json:"properties"`
	Open       json.RawMessage   `json:"additionalProperties"`
}

// whole is a schema with what it refers to.
func (d *description) whole(s schema) schema {
	if s.Ref != "" {
		s = d.schemas[strings.TrimPrefix(s.Ref, schemaRef)]
	}
	all := schema{Type: s.Type, Properties: maps.Clone(s.Properties)}
	for _, part := range s.AllOf {
		part = d.whole(part)
		all.Type = cmp.Or(all.Type, part.Type)
		if all.Properties == nil {
			all.Properties = map[string]schema{}
		}
		maps.Copy(all.Properties, part.Properties)
	}
	return all
}

const schemaRef = "#/components/schemas/"

// operation is an operation of the description, with the extensions that the
// description explains.
type operation struct {
	Method, Path string
	Name         string     `json:"x-name"`
	Doc          string     `json:"x-doc"`
	Key          string     `json:"x-key"`
	Write        bool       `json:"x-write"`
	Asks         string     `json:"x-asks"`
	AnswerSize   string     `json:"x-answer-size"`
	LimitClass   string     `json:"x-limit-class"`
	Refusals     []answered `json:"x-error-codes"`
	Request      content    `json:"requestBody"`

	Responses map[string]content `json:"responses"`
}

// content is that of a body, by its media type.
type content struct {
	Content map[string]struct{ Schema schema } `json:"content"`
}

// members are those of the operation's body, with their types; "" for one whose type is not shown.
func (d *description) members(o *operation) map[string]string {
	types := map[string]string{}
	for name, s := range d.whole(o.Request.Content["application/json"].Schema).Properties {
		types[name] = d.whole(s).Type
	}
	return types
}

func (o *operation) liveWrite() bool { return o.Write && o.Key == "live" }

// answered is a code that an operation answers. A StatusRange of 4XX stands above
// the Status, which is then only the likely one.
type answered struct {
	Code        string `json:"code"`
	Status      int    `json:"status"`
	StatusRange string `json:"statusRange"`
}

// code is the x-code of an example of an error.
type code struct {
	Code  string `json:"-"`
	Name  string `json:"name"`
	Group string `json:"group"`
	Doc   string `json:"doc"`
	Rules []rule `json:"rules"`
}

// rule says what a code means under a status or a StatusRange.
type rule struct {
	Status      int    `json:"status"`
	StatusRange string `json:"statusRange"`
	Environment string `json:"environment"`
	Kind        string `json:"kind"`
	Advice      string `json:"advice"`
	Outcome     string `json:"outcome"`
	Meaning     string `json:"meaning"`
}

func readDescription(file string) (*description, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document struct {
		Paths      members[members[json.RawMessage]] `json:"paths"`
		Components struct {
			Examples members[struct {
				Code json.RawMessage `json:"x-code"`
			}] `json:"examples"`
			Schemas members[schema] `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	d := &description{schemas: map[string]schema{}}
	for _, path := range document.Paths {
		for _, method := range path.value {
			o := operation{Method: strings.ToUpper(method.name), Path: path.name}
			if err := json.Unmarshal(method.value, &o); err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}
			d.operations = append(d.operations, o)
		}
	}
	for _, example := range document.Components.Examples {
		if example.value.Code == nil {
			continue
		}
		c := code{Code: example.name}
		dec := json.NewDecoder(bytes.NewReader(example.value.Code))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&c); err != nil {
			return nil, fmt.Errorf("x-code of %s: %w", c.Code, err)
		}
		d.codes = append(d.codes, c)
	}
	for _, s := range document.Components.Schemas {
		d.schemas[s.name] = s.value
		switch {
		case s.value.Type != "object":
		case string(s.value.Open) == "true":
			d.records = append(d.records, s.name)
		case s.value.Open == nil:
			d.requests = append(d.requests, s.name)
		}
	}
	err = d.check()
	return d, err
}

// members are the members of a JSON object in the order of the text.
type members[V any] []member[V]

type member[V any] struct {
	name  string
	value V
}

func (m *members[V]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("%.20s… is not an object", text)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value V
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, member[V]{name.(string), value})
	}
	return nil
}
