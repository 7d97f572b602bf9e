package trial

import (
	"encoding/xml"
	"fmt"
	"io"

	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// The form that CI systems read: a suite for each scenario, with a case for each judgement.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure"`
		Error   *message `xml:"error"`
		Skipped *message `xml:"skipped"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes outcomes as JUnit does. Of several seeds the worst counts, and a judgement
// that none of them exercised is skipped.
func WriteJUnit(w io.Writer, outcomes []judge.Outcome) error {
	var all suites
	at := map[string]int{}
	for _, o := range outcomes {
		if _, known := at[o.Scenario]; !known {
			at[o.Scenario] = len(all.Suites)
			all.Suites = append(all.Suites, suiteOf(o.Scenario, outcomes))
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	return encoder.Encode(all)
}

func suiteOf(scenario string, outcomes []judge.Outcome) suite {
	s := suite{Name: scenario}
	for _, name := range judge.Judgements() {
		c := testCase{Class: scenario, Name: name, Skipped: &message{Message: "not exercised"}}
		for _, o := range outcomes {
			if o.Scenario != scenario {
				continue
			}
			f := o.Of(name)
			text := fmt.Sprintf("seed %d\n%sagain: %s\n", o.Seed, f, o.Replay)
			switch {
			case o.Harness != "" || o.Inconclusive != "":
				c.Error = &message{"no result", o.Harness + o.Inconclusive}
			case f.Verdict == judge.Fail:
				c.Failure = &message{f.Reason, text}
			case f.Verdict == judge.Warn:
				c.Output += text
			case f.Verdict == judge.NotExercised && c.Skipped != nil:
				c.Skipped.Message = "not exercised: " + f.Text
			}
			if f.Verdict != judge.NotExercised || c.Error != nil {
				c.Skipped = nil
			}
		}
		s.Tests++
		switch {
		case c.Error != nil:
			c.Failure = nil
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}
