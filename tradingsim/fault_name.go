package tradingsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PlannedFault is a fault that has not happened yet.
type PlannedFault struct {
	Operation string `json:"operation"` // whose next call it is for, or "*"
	Fault     string `json:"fault"`     // such as "delay 2s"
}

// PlannedFaults are the faults that [Sim.Fault] has planned and that have not happened
// yet, by operation, and of each operation in their order.
func (s *Sim) PlannedFaults() []PlannedFault {
	s.enter()
	defer s.leave()
	var list []PlannedFault
	for _, name := range slices.Sorted(maps.Keys(s.faults)) {
		for _, f := range s.faults[name] {
			list = append(list, PlannedFault{name, f.String()})
		}
	}
	return list
}

// String names a fault after the function that makes it, with what it was given; empty
// for none. Faults that happen together are joined by " + ".
func (f *fault) String() string {
	if f == noFault || *f == (fault{}) {
		return ""
	}
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	late := f.lost && f.late > 0
	add(f.refuse, "refuse_connection")
	add(late, "arrive_late %v", f.late)
	add(f.lost && !late, "drop_request")
	add(f.front != nil, "%s", f.front.name(""))
	add(f.gone, "hang %v", f.hold)
	add(f.hold > 0 && !f.gone, "delay %v", f.hold)
	add(f.instead != nil, "%s", f.instead.name("fail"))
	add(f.after != nil, "%s", f.after.name("fail_after"))
	add(f.crash, "crash")
	add(f.crashAfter, "crash_after")
	add(f.repeat, "repeat")
	add(f.late > 0 && !late, "late_copy %v", f.late)
	add(f.mask != nil, "%s", f.mask.name("_after"))
	add(f.slow > 0, "delay_response %v", f.slow)
	add(f.truncate, "truncate_response")
	add(f.cut && !f.lost && !f.gone && !f.crash && !f.crashAfter, "drop_response")
	return strings.Join(parts, " + ")
}

// name is how a planned answer of a proxy is called.
func (a *answer) name(suffix string) string {
	if a == nil {
		return ""
	}
	kind := "raw"
	switch a.header.Get("Content-Type") {
	case "text/html; charset=utf-8":
		kind = "gateway_error"
	case "application/json":
		kind = "gateway_json"
	}
	return fmt.Sprintf("%s%s %d", kind, suffix, a.status)
}

func (r *refusal) name(kind string) string {
	switch {
	case r == nil:
		return ""
	case r.code == "rate_limited" && r.wait > 0:
		return fmt.Sprintf("rate_limit %v", r.wait)
	}
	return fmt.Sprintf("%s %d %s", kind, r.status, r.code)
}

// Operations are the names of the contract's operations, as [Sim.Fault] takes them.
func Operations() []string { return slices.Sorted(maps.Keys(newRoutes().byName)) }
