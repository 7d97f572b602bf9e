package obedient

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// Step is one thing that a bot does by a page.
type Step string

// The steps, in the words of docs/errors.md.
const (
	FindOut      Step = "find out"
	DecideAnew   Step = "decide anew"
	Wait         Step = "wait"
	WaitAsAsked  Step = "wait as asked"
	SendAgain    Step = "send it again"
	Drop         Step = "drop it"
	ChangeOrDrop Step = "change it or drop it"
	AlertAPerson Step = "alert a person"
	AsAdvised    Step = "as `AdviceOf` says" // of README.md, which leaves the rest to the other table
)

var steps = []Step{FindOut, DecideAnew, Wait, WaitAsAsked, SendAgain, Drop, ChangeOrDrop, AlertAPerson, AsAdvised}

// Pages are what the pages say.
type Pages struct {
	Advice   map[trading.Advice][]Step  // docs/errors.md
	Outcomes map[trading.Outcome][]Step // README.md
	Behind   time.Duration              // how long after a write is known a read may show it
}

// names are what the pages call them.
var (
	adviceNames = map[string]trading.Advice{
		"AdviseNever": trading.AdviseNever, "AdviseChange": trading.AdviseChange, "AdviseNewKey": trading.AdviseNewKey,
		"AdviseSameKey": trading.AdviseSameKey, "AdviseWait": trading.AdviseWait, "AdviseRead": trading.AdviseRead,
		"AdviseResolve": trading.AdviseResolve,
	}
	outcomeNames = map[string]trading.Outcome{"NotApplied": trading.NotApplied, "Applied": trading.Applied, "Unknown": trading.Unknown}
)

// Root is the folder of the repository.
func Root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..")
}

// Read reads the pages. A step that no bot knows is an error, and so is a row that is missing.
func Read() (p Pages, err error) {
	if p.Advice, err = table(filepath.Join("docs", "errors.md"), adviceNames); err != nil {
		return p, err
	}
	if p.Outcomes, err = table("README.md", outcomeNames); err != nil {
		return p, err
	}
	p.Behind = 5 * time.Second
	for page, says := range map[string]string{
		"docs/errors.md": "Five seconds after that read the positions", "README.md": "wait five seconds, read the positions, and order what is missing",
	} {
		text, err := os.ReadFile(filepath.Join(Root(), page))
		if err != nil {
			return p, err
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), says) {
			return p, fmt.Errorf("%s does not say %q", page, says)
		}
	}
	return p, nil
}

// table reads a table whose first cell names something, and whose last cell is what to do.
func table[T comparable](page string, names map[string]T) (map[T][]Step, error) {
	text, err := os.ReadFile(filepath.Join(Root(), page))
	if err != nil {
		return nil, err
	}
	rows := map[T][]Step{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		of, named := names[strings.Trim(strings.TrimSpace(cells[0]), "`")]
		if len(cells) < 2 || !named {
			continue
		}
		if rows[of] != nil {
			return nil, fmt.Errorf("%s: %s stands there twice", page, cells[0])
		}
		if rows[of], err = parse(cells[len(cells)-1]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", page, cells[0], err)
		}
	}
	for name, of := range names {
		if len(rows[of]) == 0 {
			return nil, fmt.Errorf("%s does not say what to do after %s", page, name)
		}
	}
	return rows, nil
}

func parse(cell string) (list []Step, err error) {
	for text := range strings.SplitSeq(cell, ",") {
		step := Step(strings.TrimSpace(text))
		if !slices.Contains(steps, step) {
			return nil, fmt.Errorf("%q is no step: it must be one of %q", step, steps)
		}
		list = append(list, step)
	}
	return list, nil
}

// Of are the steps after an error. README.md speaks first.
func (p Pages) Of(err error) []Step {
	list := p.Outcomes[trading.OutcomeOf(err)]
	if slices.Equal(list, []Step{AsAdvised}) {
		return p.Advice[trading.AdviceOf(err)]
	}
	return list
}
