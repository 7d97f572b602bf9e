package main

import (
	"errors"
	"fmt"
	"go/token"
	"strings"
)

// The words of the description, and what the tables call them.
var (
	environments = map[string]bool{"": true, "sandbox": true, "live": true}
	keys         = map[string]string{"none": "", "any": "", "test": "sandbox", "live": "live"}
	sizes        = map[string]string{"small": "SmallAnswer", "large": "LargeAnswer"}
	asks         = map[string]string{
		"": "", "nothing": "AsksNothing", "order": "AsksOrder", "close": "AsksClose", "limit": "AsksLimit",
		"run": "AsksRun", "run-edit": "AsksRunEdit", "levels": "AsksLevels",
	}
	outcomes = map[string]string{"not applied": "NotApplied", "not applied if confirmed": "IfConfirmed", "unknown": "Unknown"}
)

// check reports everything that is missing, contradictory or not a known word. What
// has a default of its own would be a trap: a write that does not say what it asks for
// would not be journaled.
func (d *description) check() error {
	var errs []error
	wrong := func(what, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", what, fmt.Sprintf(format, args...)))
	}
	names, codes := map[string]bool{}, map[string]bool{}
	named := func(what, prefix, name, doc string) {
		if !token.IsExported(name) || !token.IsIdentifier(name) || names[prefix+name] {
			wrong(what, "the name %q is not an exported identifier, or is taken", name)
		}
		if doc == "" {
			wrong(what, "it has no doc")
		}
		names[prefix+name] = true
	}
	for _, c := range d.codes {
		named(c.Code, "Code", c.Name, c.Doc)
		codes[c.Code] = true
		if c.Group == "" || len(c.Rules) == 0 {
			wrong(c.Code, "it needs a group and at least one rule")
		}
		for _, r := range c.Rules {
			r.check(func(format string, args ...any) { wrong(c.Code, format, args...) })
		}
	}
	for _, o := range d.operations {
		named(o.Path, "Op", o.Name, o.Doc)
		o.check(codes, func(format string, args ...any) { wrong(o.Method+" "+o.Path, format, args...) })
	}
	return errors.Join(errs...)
}

func (r *rule) check(wrong func(format string, args ...any)) {
	if (r.Status == 0) == (r.StatusRange == "") || r.StatusRange != "" && r.StatusRange != "4XX" {
		wrong("a rule needs either status or the statusRange 4XX")
	}
	if r.Meaning == "" {
		wrong("the rule of %d has no meaning", r.Status)
	}
	known(environments, "environment", r.Environment, wrong)
	if _, ok := adviceOf(r.Advice); !ok {
		wrong("the advice %q is not a known word", r.Advice)
	}
	known(outcomes, "outcome", r.Outcome, wrong)
}

func (o *operation) check(codes map[string]bool, wrong func(format string, args ...any)) {
	known(keys, "x-key", o.Key, wrong)
	known(sizes, "x-answer-size", o.AnswerSize, wrong)
	if (o.Asks != "") != o.Write {
		wrong("x-asks belongs to every write and to nothing else")
	}
	known(asks, "x-asks", o.Asks, wrong)
	if o.Write && strings.Contains(o.Path, "{") {
		wrong("a write has its ids in its body: the journal keeps that, and not the path")
	}
	if (o.LimitClass != "") != o.liveWrite() {
		wrong("x-limit-class belongs to every live write and to nothing else")
	}
	for _, r := range o.Refusals {
		if !codes[r.Code] {
			wrong("there is no example of the code %q with an x-code", r.Code)
		}
	}
}

func known[V any](words map[string]V, member, word string, wrong func(format string, args ...any)) {
	if _, ok := words[word]; !ok {
		wrong("%s is %q", member, word)
	}
}
