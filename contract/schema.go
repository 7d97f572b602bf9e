package contract

import (
	"fmt"
	"slices"
	"strings"
)

// way is who writes what a schema describes. What may change without harm is
// the opposite for the two.
type way int

const (
	sent     way = iota // by the client
	answered            // by the service
)

func (w way) String() string {
	if w == sent {
		return "in requests"
	}
	return "in answers"
}

// harms reports whether a change of a range harms: a narrower one those who write
// into it, a wider one those who read from it.
func (w way) harms(wider bool) bool { return wider == (w == answered) }

// schema compares two schemas and all below them.
func (c *comparison) schema(where string, was, is any, direction way) error {
	if err := c.spend(1); err != nil {
		return err
	}
	old, name, err := c.was.schema(was)
	if err != nil {
		return err
	}
	now, _, err := c.is.schema(is)
	if err != nil {
		return err
	}
	where = named(where, name)
	key := pair{identity(old), identity(now), direction}
	if c.seen[key] {
		return nil
	}
	c.seen[key] = true
	if len(old) == 0 && len(now) == 0 {
		return nil
	}

	at := schemas{c, where, old, now, direction}
	if at.kind() {
		return nil // all else follows from it
	}
	at.null()
	if err := at.values(); err != nil {
		return err
	}
	at.constant()
	at.ranges()
	at.defaults()
	at.others()
	c.deprecation(at.place(), old, now)
	if err := at.members(); err != nil {
		return err
	}
	if err := at.additional(); err != nil {
		return err
	}
	if old["items"] != nil || now["items"] != nil {
		if err := c.schema(where+"[]", old["items"], now["items"], direction); err != nil {
			return err
		}
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if err := at.alternatives(keyword); err != nil {
			return err
		}
	}
	return nil
}

// named is where a schema is, if it has a name of its own.
func named(where, ref string) string {
	if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok {
		return clip(name)
	}
	return where
}

// schemas are two, at a place.
type schemas struct {
	*comparison
	where     string
	was, is   object
	direction way
}

// place is where the two are, with the direction if the operation does not show it.
func (s schemas) place() string {
	if strings.HasPrefix(s.where, s.operation) {
		return s.where
	}
	return s.where + " " + s.direction.String()
}

func (s schemas) say(breaking bool, format string, args ...any) {
	s.note(breaking, s.place(), fmt.Sprintf(format, args...))
}

// kind compares type and format, and reports whether the schemas have nothing more
// in common.
func (s schemas) kind() bool {
	was, is := s.was["type"], s.is["type"]
	if same(was, is) {
		s.format()
		return false
	}
	narrower := was == nil || was == "number" && is == "integer"
	wider := is == nil || was == "integer" && is == "number"
	breaking := narrower == wider || s.direction.harms(wider)
	s.say(breaking, "type is %s, was %s", said(is), said(was))
	return !narrower && !wider
}

func (s schemas) format() {
	if was, is := s.was["format"], s.is["format"]; !same(was, is) {
		s.say(true, "format is %s, was %s", said(is), said(was))
	}
}

func (s schemas) null() {
	was, is := s.was["nullable"] == true, s.is["nullable"] == true
	switch {
	case is && !was:
		s.say(s.direction.harms(true), "may be null")
	case was && !is:
		s.say(s.direction.harms(false), "no longer null")
	}
}

// values compares the values that are listed, closed or as known today.
func (s schemas) values() error {
	before, closed := listedValues(s.was)
	after, closes := listedValues(s.is)
	if closes && !closed {
		s.say(s.direction == sent, "no other values than those listed")
	}
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	if err := s.spend(len(before) + len(after)); err != nil {
		return err
	}
	for _, value := range both(before, after) {
		switch {
		case before[value] == nil:
			s.say(false, "value %s added", clip(value))
		case after[value] == nil:
			// Of an answer's too: who waits for it waits for ever.
			s.say(true, "value %s removed", clip(value))
		}
	}
	return nil
}

// listedValues are those of a schema, and whether there are no others.
func listedValues(node object) (values object, closed bool) {
	values = object{}
	_, closed = node["enum"].([]any)
	for _, keyword := range []string{"enum", "x-known-values"} {
		list, _ := node[keyword].([]any)
		for _, value := range list {
			values[canonical(value)] = true
		}
	}
	return values, closed
}

func (s schemas) constant() {
	was, is := s.was["x-const"], s.is["x-const"]
	if was != nil && is != nil && !same(was, is) {
		s.say(true, "always %s, was %s", said(is), said(was))
	}
}

// defaults compares what a request means that leaves something out.
func (s schemas) defaults() {
	if was, is := s.was["default"], s.is["default"]; s.direction == sent && !same(was, is) {
		s.say(true, "default is %s, was %s", said(is), said(was))
	}
}

// understood are the keywords that are compared one by one, or change no shape.
var understood = []string{
	"type", "format", "nullable", "enum", "default", "deprecated", "properties", "required", "additionalProperties", "items",
	"allOf", "oneOf", "anyOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
	"maxItems", "minProperties", "maxProperties", "pattern", "multipleOf", "uniqueItems",
	"title", "description", "example", "examples", "externalDocs", "xml", "$ref",
}

// others compares the keywords that nobody here understands.
func (s schemas) others() {
	for _, keyword := range both(s.was, s.is) {
		if strings.HasPrefix(keyword, "x-") || slices.Contains(understood, keyword) {
			continue
		}
		if !same(s.was[keyword], s.is[keyword]) {
			s.say(true, "keyword %s changed, which this comparison does not understand", clip(keyword))
		}
	}
}

func (s schemas) members() error {
	before, _ := s.was["properties"].(object)
	after, _ := s.is["properties"].(object)
	must, now := texts(s.was["required"]), texts(s.is["required"])
	if err := s.spend(len(before) + len(after) + len(must) + len(now)); err != nil {
		return err
	}
	owner := named(s.where, s.comparison.was.from[identity(s.was)])
	for _, name := range both(before, after) {
		member := schemas{s.comparison, owner + "." + clip(name), nil, nil, s.direction}
		old, was := before[name]
		new, is := after[name]
		switch {
		case !is:
			member.say(true, "member removed")
		case !was:
			member.say(now[name] && s.direction == sent, "%s member added", optionality(object{"required": now[name]}))
		default:
			s.required(member.place(), must[name], now[name], s.direction)
			if err := s.schema(member.where, old, new, s.direction); err != nil {
				return err
			}
		}
	}
	return nil
}

// additional compares the members that have no name in the schema.
func (s schemas) additional() error {
	was, is := s.was["additionalProperties"], s.is["additionalProperties"]
	_, mapped := was.(object)
	_, maps := is.(object)
	switch {
	case mapped && maps:
		return s.schema(s.where+"{}", was, is, s.direction)
	case mapped && is == false, maps && was == false:
		s.say(mapped, "members of any name %s", map[bool]string{true: "removed", false: "added"}[mapped])
	case mapped:
		s.say(s.direction.harms(true), "members of any name may hold anything")
	case maps:
		s.say(s.direction.harms(false), "members of any name hold no longer anything")
	case is == false && was != false:
		// The client sends no member that the description does not name.
		s.say(false, "no other members than those named")
	}
	return nil
}

// alternatives compares the lists of which a value fits one or more.
func (s schemas) alternatives(keyword string) error {
	before, _ := s.was[keyword].([]any)
	after, _ := s.is[keyword].([]any)
	if (len(before) == 0) != (len(after) == 0) {
		s.say(true, "%s: %d alternatives, were %d", keyword, len(after), len(before))
		return nil
	}
	before, after, pairs := unlike(before, after)
	for _, one := range pairs {
		if err := s.schema(s.where, one, one, s.direction); err != nil {
			return err
		}
	}
	for i := range max(len(before), len(after)) {
		where := fmt.Sprintf("%s, alternative %d", s.where, i+1)
		at := schemas{s.comparison, where, nil, nil, s.direction}
		switch {
		case i >= len(after):
			at.say(s.direction == sent, "removed")
		case i >= len(before):
			at.say(s.direction == answered, "added")
		default:
			if err := s.schema(where, before[i], after[i], s.direction); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlike takes apart the alternatives that stand in both lists in the same words,
// whatever their order: what a reference names may have changed all the same.
func unlike(was, is []any) (before, after, pairs []any) {
	words := map[string]int{}
	for _, one := range is {
		words[canonical(one)]++
	}
	for _, one := range was {
		if text := canonical(one); words[text] > 0 {
			words[text]--
			pairs = append(pairs, one)
		} else {
			before = append(before, one)
		}
	}
	for _, one := range is {
		if text := canonical(one); words[text] > 0 {
			words[text]--
			after = append(after, one)
		}
	}
	return before, after, pairs
}
