package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Status is how a check ended.
type Status string

// How a check ends.
const (
	OK      Status = "ok"      // as it should be
	Warn    Status = "warn"    // a bot can run, and somebody should know
	Fail    Status = "FAIL"    // do not trade real money before it is mended
	Skipped Status = "skipped" // not seen; Saw says why
)

// Line is the result of one check.
type Line struct {
	// Subject is what was looked at: "configuration", "service", "journal", "fleet", "redis",
	// "machine", or the id of an account. Check is the name of the check, which does not change.
	Subject string `json:"subject"`
	Check   string `json:"check"`
	Status  Status `json:"status"`
	// Saw is what was seen, or why it was not looked at. Do is what to do; empty for nothing.
	Saw string `json:"saw"`
	Do  string `json:"do,omitempty"`
}

// String is the line for a person.
func (l Line) String() string {
	text := fmt.Sprintf("%-7s  %s %s: %s", l.Status, l.Subject, l.Check, l.Saw)
	if l.Do != "" {
		text += ". " + l.Do
	}
	return text
}

// Measured is what was measured of the service. Values are zero where nothing was.
type Measured struct {
	// Answers counts the answers that times were taken of; AnswerTime is their median and
	// SlowestAnswer the slowest, connection included.
	Answers                   int
	AnswerTime, SlowestAnswer time.Duration
	// Clocks counts the answers with a Date that was compared. The service's clock is ahead of
	// this machine's by ClockAtLeast to ClockAtMost; negative is behind.
	Clocks                    int
	ClockAtLeast, ClockAtMost time.Duration
	// HealthAge is the age of the oldest assessment that was answered, at least, by the
	// service's own clock.
	HealthAge time.Duration
	// Sync is the median time of a sync beside the journal.
	Sync time.Duration
}

// Report is everything that was seen.
type Report struct {
	At       time.Time // when it began
	Lines    []Line    // a line for each check
	Measured Measured  // the figures behind them
	Requests int       // how many were sent
	// Refused means that the service refused a key: do not ask again with it, since repeated failures
	// close the address.
	Refused bool

	hide []string // what no line may hold
}

// Failed reports whether a line is FAIL.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Status == Fail })
}

// Line returns the first line of a check.
func (r *Report) Line(check string) (l Line, ok bool) {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Check == check })
	if i < 0 {
		return Line{}, false
	}
	return r.Lines[i], true
}

// String is the report as lines.
func (r *Report) String() string {
	var text strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintln(&text, l)
	}
	return text.String()
}

// Changed returns the lines of now whose status or text differs from those of before.
// Lines with figures that differ each time are compared by their status.
func Changed(before, now *Report) (lines []Line) {
	was := map[[2]string]Line{}
	for _, l := range before.Lines {
		was[[2]string{l.Subject, l.Check}] = l
	}
	for _, l := range now.Lines {
		old, ok := was[[2]string{l.Subject, l.Check}]
		if !ok || old.Status != l.Status || old.Saw != l.Saw && !figures[l.Check] {
			lines = append(lines, l)
		}
	}
	return lines
}

// figures are the checks whose text has a figure that differs each time.
var figures = map[string]bool{
	"answer-time": true, "clock": true, "health": true, "as-of": true, "journal-sync": true, "journal-space": true,
	"room": true, "addresses": true, "kind": true, "clock-steps": true, "pending-writes": true,
}

// subject adds lines of one subject.
type subject struct {
	r    *Report
	name string
}

func (r *Report) of(name string) subject { return subject{r, name} }

func (s subject) ok(check, format string, args ...any) { s.add(check, OK, "", format, args...) }
func (s subject) skip(check, format string, args ...any) {
	s.add(check, Skipped, "", format, args...)
}
func (s subject) warn(check, do, format string, args ...any) {
	s.add(check, Warn, do, format, args...)
}
func (s subject) fail(check, do, format string, args ...any) {
	s.add(check, Fail, do, format, args...)
}

func (s subject) add(check string, status Status, do, format string, args ...any) {
	s.r.Lines = append(s.r.Lines, Line{
		Subject: s.r.clean(s.name), Check: check, Status: status,
		Saw: s.r.clean(fmt.Sprintf(format, args...)), Do: s.r.clean(do),
	})
}

// apiKeys is what looks like an API key: a prefix and anything behind it.
var apiKeys = regexp.MustCompile(`(?i)(pk_(?:test|live)_)[^\s"'…,;:)]+`)

// maxText bounds a text that comes from outside.
const maxText = 600

// clean takes keys and what no terminal should get out of a text, and puts it on one line.
func (r *Report) clean(text string) string {
	for _, secret := range r.hide {
		text = strings.ReplaceAll(text, secret, "[removed]")
	}
	text = apiKeys.ReplaceAllString(text, "$1…")
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD' // a service writes what it likes
	}, text)
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}
