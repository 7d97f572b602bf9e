package obedient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Answer is what a bot without the client hears; the zero value is nothing.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// HTTPBot is the obedient bot of a program in any language: it goes by docs/sidecar.md, by the
// member advice, and by the table of codes in docs/errors.md.
type HTTPBot struct {
	HTTPPages
	// Send sends a request; key is empty for none.
	Send func(method, path, body, key string) Answer
	// Account and Symbol are where it trades.
	Account, Symbol string
	// Keyed: it gives its orders keys, which begin with its Name.
	Keyed bool
	Name  string
	// Sleep waits, and reports whether it may go on.
	Sleep func(time.Duration) bool
	Alert func(Answer)
	Note  func(format string, args ...any) // nil for nobody

	keys int
}

// HTTPPages are what the pages say to such a bot.
type HTTPPages struct {
	Silence []Step            // docs/sidecar.md, after no answer
	Codes   map[string][]Step // docs/errors.md, by code and status
}

// ReadHTTP reads the pages.
func ReadHTTP() (p HTTPPages, err error) {
	rows, err := table(filepath.Join("docs", "sidecar.md"), map[string]bool{"no answer, or none in the service's shape": true})
	if err != nil {
		return p, err
	}
	p.Silence = rows[true]
	text, err := os.ReadFile(filepath.Join(Root(), "docs", "errors.md"))
	if err != nil {
		return p, err
	}
	p.Codes = map[string][]Step{}
	var do []Step // of the section
	for line := range strings.Lines(string(text)) {
		if title, found := strings.CutPrefix(strings.TrimSpace(line), "### "); found {
			if do, err = parse(strings.ToLower(title)); err != nil {
				return p, fmt.Errorf("docs/errors.md: %w", err)
			}
		}
		if row := codeRow.FindStringSubmatch(line); row != nil {
			p.Codes[codeAndStatus(row[1], row[2])] = do
		}
	}
	return p, nil
}

// codeRow is the line of a code and its status.
var codeRow = regexp.MustCompile("^- `(\\w+)` (\\dxx|\\d+): ")

func codeAndStatus(code, status string) string { return code + " " + status }

// Of are the steps after an answer to a write.
func (p HTTPPages) Of(a Answer) (list []Step, err error) {
	var said struct{ Error, Advice string }
	if json.Unmarshal(a.Body, &said) != nil || said.Error == "" {
		return p.Silence, nil
	}
	if a.Header.Get("Trading-Sidecar") != "" {
		return parse(said.Advice)
	}
	for _, status := range []string{strconv.Itoa(a.Status), strconv.Itoa(a.Status/100) + "xx"} {
		if list, known := p.Codes[codeAndStatus(said.Error, status)]; known {
			return list, nil
		}
	}
	if a.Status < http.StatusInternalServerError { // by the class of its status
		return p.Codes[codeAndStatus("bad_request", "400")], nil
	}
	return p.Codes[codeAndStatus("internal_error", "500")], nil
}

// Pursue has the bot have a position of a signed size.
func (b *HTTPBot) Pursue(want decimal.Decimal) End {
	var (
		body, key string
		last      Answer
		wait      = shortest
		todo      = []Step{DecideAnew}
	)
	pause := func() bool {
		seconds, err := strconv.Atoi(last.Header.Get("Retry-After"))
		if err == nil {
			return b.Sleep(time.Duration(seconds) * time.Second)
		}
		wait = min(2*wait, longest)
		return b.Sleep(wait / 2)
	}
	for {
		for _, step := range todo {
			b.note("it does: %s", step)
			switch step {
			case Wait, WaitAsAsked:
				if !pause() {
					return Stopped
				}
			case AlertAPerson:
				b.Alert(last)
			case DecideAnew:
				missing, known := b.missing(want, pause)
				switch {
				case !known:
					return Stopped
				case missing.IsZero():
					return Held
				}
				side := "long"
				if missing.IsNegative() {
					side = "short"
				}
				body = fmt.Sprintf(`{"accountId":%q,"symbol":%q,"side":%q,"size":%s,"leverage":2}`, b.Account, b.Symbol, side, missing.Abs())
				if b.Keyed {
					b.keys++
					key = fmt.Sprint(b.Name, "-", b.keys)
				}
			}
		}
		if slices.Contains(todo, Drop) || slices.Contains(todo, ChangeOrDrop) {
			return Dropped
		}
		last = b.Send(http.MethodPost, "/orders", body, key)
		b.note("it hears: %d %s", last.Status, last.Body)
		if last.Status == http.StatusOK {
			return Held
		}
		todo = b.after(last)
	}
}

// after are the steps after an answer. With a key, the same again finds out.
func (b *HTTPBot) after(a Answer) []Step {
	list, err := b.Of(a)
	switch {
	case err != nil:
		panic(err) // a text that is no advice
	case b.Keyed && slices.Contains(list, FindOut):
		return []Step{Wait, SendAgain}
	default:
		return slices.DeleteFunc(slices.Clone(list), func(s Step) bool { return s == FindOut })
	}
}

// missing reads what is missing.
func (b *HTTPBot) missing(want decimal.Decimal, pause func() bool) (decimal.Decimal, bool) {
	for b.Sleep(5 * time.Second) {
		a := b.Send(http.MethodGet, "/positions?accountId="+b.Account, "", "")
		var has struct {
			Positions []struct {
				Symbol, Side string
				Size         decimal.Decimal
			}
		}
		if a.Status != http.StatusOK || json.Unmarshal(a.Body, &has) != nil {
			if !pause() {
				break
			}
			continue
		}
		for _, p := range has.Positions {
			switch {
			case p.Symbol != b.Symbol:
			case p.Side == "short":
				want = want.Add(p.Size)
			default:
				want = want.Sub(p.Size)
			}
		}
		return want, true
	}
	return decimal.Zero, false
}

func (b *HTTPBot) note(format string, args ...any) {
	if b.Note != nil {
		b.Note(format, args...)
	}
}
