package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// methods are the members of a path that are operations.
var methods = []string{"delete", "get", "head", "options", "patch", "post", "put", "trace"}

// operation is one, with what its path says for all.
type operation struct {
	name   string // POST /orders
	node   object
	shared any // parameters of the path
	path   string
}

var pathParameter = regexp.MustCompile(`\{[^{}]*\}`)

// operations are those of a description by method and path below the versioned
// root, in which the names of the parameters do not count.
func (d *document) operations() (map[string]operation, error) {
	base := ""
	if servers, _ := d.root["servers"].([]any); len(servers) > 0 {
		server, _ := servers[0].(object)
		url, _ := server["url"].(string)
		if _, rest, ok := strings.Cut(url, "://"); ok {
			_, url, _ = strings.Cut(rest, "/")
		}
		base = "/" + strings.Trim(url, "/")
	}
	all := map[string]operation{}
	paths, _ := d.root["paths"].(object)
	for path, value := range paths {
		item, _, err := d.resolve(value)
		if err != nil {
			return nil, err
		}
		full := strings.TrimRight(base, "/") + "/" + strings.Trim(path, "/")
		// A description that does not say where it is served means the same root.
		full = strings.TrimPrefix(full, "/v1")
		for _, method := range methods {
			if node, ok := item[method].(object); ok {
				key := method + " " + pathParameter.ReplaceAllString(full, "{}")
				all[key] = operation{strings.ToUpper(method) + " " + clip(full), node, item["parameters"], full}
			}
		}
	}
	return all, nil
}

// run compares the descriptions operation by operation.
func (c *comparison) run() error {
	was, err := c.was.operations()
	if err != nil {
		return err
	}
	is, err := c.is.operations()
	if err != nil {
		return err
	}
	c.version()
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[key]; !ok {
			c.operation = is[key].name
			c.note(false, c.operation, "operation added")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		c.operation, c.seen = was[key].name, map[pair]bool{}
		if _, ok := is[key]; !ok {
			c.note(true, c.operation, "operation removed")
			continue
		}
		if err := c.compareOperation(was[key], is[key]); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) version() {
	was, _ := c.was.root["info"].(object)
	is, _ := c.is.root["info"].(object)
	if !same(was["version"], is["version"]) {
		c.note(false, "version of the description", said(is["version"])+", was "+said(was["version"]))
	}
}

func (c *comparison) compareOperation(was, is operation) error {
	c.extensions(was.node, is.node)
	c.deprecation(c.operation, was.node, is.node)
	if err := c.codes(was.node, is.node); err != nil {
		return err
	}
	if err := c.security(was.node, is.node); err != nil {
		return err
	}
	if err := c.parameters(was, is); err != nil {
		return err
	}
	if err := c.requestBody(was.node["requestBody"], is.node["requestBody"]); err != nil {
		return err
	}
	return c.responses(was.node["responses"], is.node["responses"])
}

// extensions compares what this project adds to OpenAPI. A description without
// them says nothing about it.
func (c *comparison) extensions(was, is object) {
	for _, name := range []string{"x-key", "x-write", "x-limit-class", "x-limit-per-minute"} {
		before, after := was[name], is[name]
		if before == nil || after == nil || same(before, after) {
			continue
		}
		higher, known := more(before, after)
		raised := name == "x-limit-per-minute" && known && higher
		c.note(!raised, c.operation, fmt.Sprintf("%s is %s, was %s", name, said(after), said(before)))
	}
}

// codes compares the documented refusals.
func (c *comparison) codes(was, is object) error {
	if was["x-error-codes"] == nil || is["x-error-codes"] == nil {
		return nil
	}
	before, after := statuses(was["x-error-codes"]), statuses(is["x-error-codes"])
	if err := c.spend(len(before) + len(after)); err != nil {
		return err
	}
	for _, code := range both(before, after) {
		switch {
		case before[code] == nil:
			c.note(false, c.operation, fmt.Sprintf("code %s added", clip(code)))
		case after[code] == nil:
			// Nothing waits for a refusal.
			c.note(false, c.operation, fmt.Sprintf("code %s removed", clip(code)))
		case !same(before[code], after[code]):
			c.note(true, c.operation, fmt.Sprintf("code %s comes with %s, was %s", clip(code), said(after[code]), said(before[code])))
		}
	}
	return nil
}

// statuses are the statuses of each code.
func statuses(value any) object {
	list, _ := value.([]any)
	byCode := map[string][]string{}
	for _, one := range list {
		entry, _ := one.(object)
		if code, ok := entry["code"].(string); ok {
			status := canonical(entry["status"])
			if class := entry["statusRange"]; class != nil {
				status = canonical(class)
			}
			byCode[code] = append(byCode[code], strings.Trim(status, `"`))
		}
	}
	all := object{}
	for code, list := range byCode {
		slices.Sort(list)
		all[code] = strings.Join(list, ", ")
	}
	return all
}

// security compares which credentials are taken, by what they are and not by
// what they are called.
func (c *comparison) security(was, is object) error {
	before, err := c.was.credentials(was)
	if err != nil {
		return err
	}
	after, err := c.is.credentials(is)
	if err != nil {
		return err
	}
	if before != after {
		c.note(true, c.operation, fmt.Sprintf("security is %s, was %s", clip(after), clip(before)))
	}
	return nil
}

func (d *document) credentials(operation object) (string, error) {
	value, ok := operation["security"]
	if !ok {
		value = d.root["security"]
	}
	alternatives, _ := value.([]any)
	var all []string
	for _, one := range alternatives {
		names, _ := one.(object)
		var schemes []string
		for name := range names {
			scheme, _, err := d.resolve(object{"$ref": "#/components/securitySchemes/" + escapeToken.Replace(name)})
			if err != nil {
				return "", err
			}
			var parts []string
			for _, part := range []string{"type", "scheme", "in", "name"} {
				if text, ok := scheme[part].(string); ok {
					parts = append(parts, strings.ToLower(text))
				}
			}
			schemes = append(schemes, strings.Join(parts, " "))
		}
		slices.Sort(schemes)
		all = append(all, strings.Join(schemes, " and "))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "none", nil
	}
	return strings.Join(all, ", or "), nil
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

func (c *comparison) deprecation(where string, was, is object) {
	if was["deprecated"] != true && is["deprecated"] == true {
		c.note(false, where, "deprecated")
	}
}
