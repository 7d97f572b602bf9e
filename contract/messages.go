package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// parameters compares what an operation takes beside its body.
func (c *comparison) parameters(was, is operation) error {
	before, err := c.was.parameters(was)
	if err != nil {
		return err
	}
	after, err := c.is.parameters(is)
	if err != nil {
		return err
	}
	for _, key := range both(before, after) {
		old, _ := before[key].(object)
		now, _ := after[key].(object)
		where := c.operation + " " + clip(parameterName(old, now))
		switch {
		case old == nil:
			c.note(now["required"] == true, where, optionality(now)+" parameter added")
		case now == nil:
			c.note(true, where, "parameter removed")
		default:
			c.required(where, old["required"] == true, now["required"] == true, sent)
			c.deprecation(where, old, now)
			if err := c.schema(where, old["schema"], now["schema"], sent); err != nil {
				return err
			}
		}
	}
	return nil
}

func parameterName(old, now object) string {
	if old == nil {
		old = now
	}
	in, _ := old["in"].(string)
	name, _ := old["name"].(string)
	return in + " " + name
}

func optionality(node object) string {
	if node["required"] == true {
		return "required"
	}
	return "optional"
}

// parameters are those of an operation and of its path, by what distinguishes them
// on the wire: in the path, that is the position.
func (d *document) parameters(op operation) (object, error) {
	all := object{}
	for _, from := range []any{op.shared, op.node["parameters"]} {
		list, _ := from.([]any)
		for _, one := range list {
			node, _, err := d.resolve(one)
			if err != nil {
				return nil, err
			}
			in, _ := node["in"].(string)
			name, _ := node["name"].(string)
			switch in {
			case "header":
				name = http.CanonicalHeaderKey(name)
			case "path":
				name = strconv.Itoa(slices.Index(pathParameter.FindAllString(op.path, -1), "{"+name+"}"))
			}
			all[in+" "+name] = node
		}
	}
	return all, nil
}

func (c *comparison) requestBody(was, is any) error {
	old, _, err := c.was.resolve(was)
	if err != nil {
		return err
	}
	now, _, err := c.is.resolve(is)
	if err != nil {
		return err
	}
	where := c.operation + " request body"
	switch {
	case old == nil && now == nil:
		return nil
	case old == nil:
		c.note(now["required"] == true, where, optionality(now)+" body added")
		return nil
	case now == nil:
		c.note(true, where, "body removed")
		return nil
	}
	c.required(where, old["required"] == true, now["required"] == true, sent)
	return c.content(where, old["content"], now["content"], sent)
}

// content compares the JSON of a message; the client speaks nothing else.
func (c *comparison) content(where string, was, is any, direction way) error {
	old, now := jsonContent(was), jsonContent(is)
	switch {
	case old == nil:
		return nil
	case now == nil:
		c.note(true, where, "no longer JSON")
		return nil
	}
	return c.schema(where, old["schema"], now["schema"], direction)
}

func jsonContent(value any) object {
	content, _ := value.(object)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		kind, _, _ := strings.Cut(name, ";")
		if strings.EqualFold(strings.TrimSpace(kind), "application/json") {
			media, _ := content[name].(object)
			if media == nil {
				media = object{}
			}
			return media
		}
	}
	return nil
}

// responses compares the answers by status.
func (c *comparison) responses(was, is any) error {
	before, _ := was.(object)
	after, _ := is.(object)
	for _, status := range both(before, after) {
		where := c.operation + " " + clip(status)
		success := strings.HasPrefix(status, "2")
		switch {
		case strings.HasPrefix(status, "x-"):
		case before[status] == nil:
			// Another success may have another shape; another refusal has the
			// shape of all.
			c.note(success, where, "answer added")
		case after[status] == nil:
			c.note(success, where, "answer removed")
		default:
			if err := c.response(where, before[status], after[status]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *comparison) response(where string, was, is any) error {
	old, _, err := c.was.resolve(was)
	if err != nil {
		return err
	}
	now, _, err := c.is.resolve(is)
	if err != nil {
		return err
	}
	if err := c.headers(where, old["headers"], now["headers"]); err != nil {
		return err
	}
	return c.content(where, old["content"], now["content"], answered)
}

func (c *comparison) headers(where string, was, is any) error {
	before, after := headers(was), headers(is)
	for _, name := range both(before, after) {
		old, _, err := c.was.resolve(before[name])
		if err != nil {
			return err
		}
		now, _, err := c.is.resolve(after[name])
		if err != nil {
			return err
		}
		at := fmt.Sprintf("%s header %s", where, clip(name))
		switch {
		case old == nil:
			c.note(false, at, "header added")
		case now == nil:
			c.note(true, at, "header removed")
		default:
			c.required(at, old["required"] == true, now["required"] == true, answered)
			if err := c.schema(at, old["schema"], now["schema"], answered); err != nil {
				return err
			}
		}
	}
	return nil
}

// headers are those of an answer under the names that all servers mean.
func headers(value any) object {
	list, _ := value.(object)
	all := object{}
	for name, header := range list {
		all[http.CanonicalHeaderKey(name)] = header
	}
	return all
}

// required compares whether something has to be there.
func (c *comparison) required(where string, was, is bool, direction way) {
	switch {
	case is && !was:
		c.note(direction == sent, where, "required, was optional")
	case was && !is:
		c.note(direction == answered, where, "optional, was required")
	}
}
