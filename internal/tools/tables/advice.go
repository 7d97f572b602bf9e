package main

import (
	"fmt"
	"slices"
	"strings"
)

// advice is one thing that a caller can be advised to do.
type advice struct {
	word     string // in the description
	constant string // Advise… in the client
	means    string
	do       string // steps, which a bot carries out in this order
}

// resolve is the advice while the outcome of a write is not known, whatever the code.
const resolve = "resolve"

// advices are all of them. What AdviceOf says, the page of the codes, and the bot of
// internal/testing/obedient are this table.
var advices = []advice{
	{"never", "Never", "it did not happen, and fails until a person changes something", "drop it, alert a person"},
	{"change", "Change", "it did not happen, and the same request fails again", "change it or drop it"},
	{"new key", "NewKey", "it did not happen, and the cause passes; an idempotency key of your own is used up", "wait, decide anew"},
	{"same key", "SameKey", "it did not happen, and the cause passes; nothing is stored under its key", "wait, send it again"},
	{"wait", "Wait", "it did not happen: a limit is full", "wait as asked, send it again"},
	{"read", "Read", "it happened, or its order or run may be gone", "decide anew"},
	{resolve, "Resolve", "nobody knows yet whether it, or an earlier write in its market, happened", "find out, decide anew"},
}

func adviceOf(word string) (advice, bool) {
	i := slices.IndexFunc(advices, func(a advice) bool { return a.word == word })
	if i < 0 {
		return advice{}, false
	}
	return advices[i], true
}

// advice is what the client's own loop does.
func (r *rule) advice() advice {
	a, _ := adviceOf(r.Advice)
	return a
}

// shown is what a caller is to do.
func (r *rule) shown() advice {
	word := r.Advice
	switch {
	case r.Outcome == "unknown":
		word = resolve
	case word == "same key" && r.Environment == "sandbox": // it has no keys: what is sent again is another order
		word = "new key"
	}
	a, _ := adviceOf(word)
	return a
}

// adviceTable is the table for people, and for the bot that obeys it.
func adviceTable() string {
	var b strings.Builder
	b.WriteString("| advice | means | do |\n|---|---|---|\n")
	for _, a := range advices {
		fmt.Fprintf(&b, "| `Advise%s` | %s | %s |\n", a.constant, a.means, a.do)
	}
	return b.String()
}
