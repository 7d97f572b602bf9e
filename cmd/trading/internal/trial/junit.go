package trial

import (
	"encoding/xml"
	"fmt"
	"os"

	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// The form that CI systems read: a suite for each scenario, with a case for each judgement.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name  string     `xml:"name,attr"`
		Cases []testCase `xml:"testcase"`
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
func WriteJUnit(file string, outcomes []judge.Outcome) error {
	var all suites
	for _, scenario := range judge.ScenariosOf(outcomes) {
		s := suite{Name: scenario}
		for _, c := range judge.CasesOf(scenario, outcomes) {
			s.Cases = append(s.Cases, caseOf(scenario, c))
		}
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(xml.Header), text...), 0o600)
}

func caseOf(scenario string, c judge.Case) testCase {
	t := testCase{Class: scenario, Name: c.Judgement}
	for _, o := range c.Runs {
		f := o.Findings[0]
		text := fmt.Sprintf("seed %d\n%sagain: %s\n", o.Seed, f, o.Replay)
		switch {
		case o.NoResult != "":
			t.Error = &message{"no result", o.NoResult}
		case f.Verdict == judge.Fail:
			t.Failure = &message{f.Reason, text}
		case f.Verdict == judge.Warn:
			t.Output += text
		case c.Exercised == 0:
			t.Skipped = &message{Message: "not exercised: " + f.Text}
		}
	}
	if t.Error != nil {
		t.Failure, t.Skipped = nil, nil
	}
	return t
}
