package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ErrDescription says that a text is no OpenAPI 3.0 description in JSON, refers to
// what it does not hold, or is beyond any size that one has.
var ErrDescription = errors.New("contract: no description that can be compared")

// A description comes from outside. These are far beyond any real one.
const (
	maxSize  = 8 << 20 // bytes
	maxDepth = 200     // of the JSON, and of references and compositions within each other
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDescription}, args...)...)
}

// object is a JSON object.
type object = map[string]any

// document is a description, its numbers as they are written.
type document struct {
	root   object
	merged map[uintptr]object // schemas with an allOf, by identity
	from   map[uintptr]string // of these, whose members they have, if of one other alone
}

func parse(text []byte) (*document, error) {
	if len(text) > maxSize {
		return nil, invalid("it has %d bytes", len(text))
	}
	if depth(text) > maxDepth {
		return nil, invalid("it is nested more than %d deep", maxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	d := &document{merged: map[uintptr]object{}, from: map[uintptr]string{}}
	if err := decoder.Decode(&d.root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDescription, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("something follows it")
	}
	if version, _ := d.root["openapi"].(string); !strings.HasPrefix(version, "3.0.") {
		return nil, invalid("it is of OpenAPI version %q, not 3.0", clip(version))
	}
	if _, ok := d.root["paths"].(object); !ok {
		return nil, invalid("it has no paths")
	}
	return d, nil
}

// depth is how deep brackets nest. Of a text that is not JSON it may be anything.
func depth(text []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// resolve follows references within the document. What is no object counts as an
// empty one: it says nothing.
func (d *document) resolve(value any) (node object, ref string, err error) {
	node, _ = value.(object)
	for range maxDepth {
		to, ok := node["$ref"].(string)
		if !ok {
			return node, ref, nil
		}
		if ref == "" {
			ref = to
		}
		if node, err = d.at(to); err != nil {
			return nil, "", err
		}
	}
	return nil, "", invalid("%q refers to itself", clip(ref))
}

var unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")

// at returns what a reference names.
func (d *document) at(ref string) (object, error) {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, invalid("%q refers to another document", clip(ref))
	}
	node := d.root
	for token := range strings.SplitSeq(pointer, "/") {
		if node, ok = node[unescapeToken.Replace(token)].(object); !ok {
			return nil, invalid("%q refers to nothing", clip(ref))
		}
	}
	return node, nil
}

// schema resolves a schema and folds its allOf into it, or what it may be besides null.
func (d *document) schema(value any) (node object, ref string, err error) {
	return d.fold(value, 0)
}

func (d *document) fold(value any, level int) (node object, ref string, err error) {
	if level > maxDepth {
		return nil, "", invalid("an allOf holds itself")
	}
	if node, ref, err = d.resolve(value); err != nil {
		return nil, "", err
	}
	parts, _ := node["allOf"].([]any)
	besideNull := orNull(node)
	if besideNull != nil {
		parts = []any{besideNull}
	}
	if len(parts) == 0 {
		return node, ref, nil
	}
	if known, ok := d.merged[identity(node)]; ok {
		return known, ref, nil
	}
	whole := object{}
	if besideNull != nil {
		whole["nullable"] = true
	}
	properties := object{}
	required := map[string]bool{}
	add := func(part object) {
		for name, value := range part {
			switch name {
			case "allOf", "properties", "required":
			default:
				if _, ok := whole[name]; !ok && (name != "anyOf" || besideNull == nil) {
					whole[name] = value
				}
			}
		}
		members, _ := part["properties"].(object)
		for name, member := range members {
			if _, ok := properties[name]; !ok {
				properties[name] = member
			}
		}
		for name := range texts(part["required"]) {
			required[name] = true
		}
	}
	add(node) // what it says itself goes before what it is composed of
	for _, part := range parts {
		folded, of, err := d.fold(part, level+1)
		if err != nil {
			return nil, "", err
		}
		add(folded)
		if len(parts) == 1 && node["properties"] == nil {
			d.from[identity(whole)] = of
		}
	}
	if len(properties) > 0 {
		whole["properties"] = properties
	}
	names := make([]any, 0, len(required))
	for name := range required {
		names = append(names, name)
	}
	whole["required"] = names
	d.merged[identity(node)] = whole
	return whole, ref, nil
}

// orNull is the schema that a node allows besides null, if it is written as the anyOf
// of two: the way for a component that may be null, where it stands in OpenAPI 3.0.
func orNull(node object) any {
	either, _ := node["anyOf"].([]any)
	if len(either) != 2 || node["allOf"] != nil {
		return nil
	}
	null, _ := either[1].(object)
	values, _ := null["enum"].([]any)
	if null["nullable"] != true || len(values) != 1 || values[0] != nil {
		return nil
	}
	return either[0]
}

// identity distinguishes one object of a document from every other, the same twice from
// two that are equal.
func identity(node object) uintptr { return reflect.ValueOf(node).Pointer() }

// texts is the set of the strings in a list.
func texts(value any) map[string]bool {
	list, _ := value.([]any)
	set := make(map[string]bool, len(list))
	for _, one := range list {
		if text, ok := one.(string); ok {
			set[text] = true
		}
	}
	return set
}
