package main

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// asProgram makes the test binary the program itself.
const asProgram = "BACKTEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs the program and returns what it prints.
func program(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const oneDay = `marks         1 days on a random walk, seed 1
equity        from $100000.00 to $100099.95, active
return        0.10%
max drawdown  0.11%, $110.07; longest below a peak: 1h28m0s
trades        1, 1 of them won; closed by 1 take_profit
fees          $10.82
requests      `

func TestProgram(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	out, errs, status := program(t, "-days", "1", "-seed", "1", "-out", folder)
	require.Equal(t, 0, status, errs)
	require.True(t, strings.HasPrefix(out, oneDay), out)
	require.True(t, strings.HasSuffix(out, "\nrefusals      none\n"), out)
	require.Contains(t, errs, "1 days in ")

	curve := rows(t, filepath.Join(folder, "equity.csv"))
	require.Equal(t, []string{"time", "balance", "equity", "changed"}, curve[0])
	require.Greater(t, len(curve), 1440)
	require.Equal(t, "opened", rows(t, filepath.Join(folder, "trades.csv"))[0][0])
	require.Equal(t, "what", rows(t, filepath.Join(folder, "counts.csv"))[0][0])

	file, err := os.Open(filepath.Join(folder, "equity.png"))
	require.NoError(t, err)
	defer file.Close()
	picture, err := png.Decode(file)
	require.NoError(t, err)
	require.Greater(t, picture.Bounds().Dx(), 500)
}

func TestProgramDrawsSVG(t *testing.T) {
	folder := t.TempDir()
	_, errs, status := program(t, "-days", "1", "-out", folder, "-plot", "e.svg")
	require.Equal(t, 0, status, errs)
	text, err := os.ReadFile(filepath.Join(folder, "e.svg"))
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg")
	require.Contains(t, string(text), "<path")
}

func TestProgramSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "flag provided but not defined", []string{"-weeks", "3"}},
		{2, `unexpected argument "30"`, []string{"30"}},
		{1, "takes a day at least", []string{"-days", "0"}},
		{1, "no such file", []string{"-marks", "nowhere.csv"}},
		{1, "a plot is a .png or an .svg", []string{"-days", "1", "-plot", "equity.gif", "-out", t.TempDir()}},
		{0, "how many days to trade", []string{"-h"}},
	} {
		_, errs, status := program(t, c.args...)
		require.Equal(t, c.status, status, "%v: %s", c.args, errs)
		require.Contains(t, errs, c.want, "%v", c.args)
	}
}

func rows(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return all
}

// bubble runs a backtest on virtual time.
func bubble(t *testing.T, s settings) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = backtest(t, s)
		require.NoError(t, err)
	})
	return r
}

// texts are the files of a run.
func texts(t *testing.T, s settings, r result) string {
	t.Helper()
	a, ok := r.report.Account(s.account())
	require.True(t, ok)
	var b bytes.Buffer
	for _, write := range []func(io.Writer) error{a.WriteCurve, a.WriteTrades, r.report.WriteCounts} {
		require.NoError(t, write(&b))
	}
	summary(&b, arguments{settings: s}, r, a)
	return b.String()
}

// someDays are enough for some trades. The race detector makes a day long.
func someDays() int {
	if raceDetector {
		return 1
	}
	return 2
}

func TestTheSameSeedGivesTheSameResult(t *testing.T) {
	if raceDetector {
		t.Skip("six times as long as any other test")
	}
	for name, s := range map[string]settings{
		"paper": {days: someDays(), seed: 3, step: 1},
		"live":  {days: someDays(), seed: 3, step: 1, live: true},
	} {
		t.Run(name, func(t *testing.T) {
			once, again := bubble(t, s), bubble(t, s)
			if !assert.ObjectsAreEqual(once.report, again.report) { // too much to print
				t.Error("the same seed, another report")
			}
			if texts(t, s, once) != texts(t, s, again) {
				t.Error("the same seed, other files")
			}
			other := s
			other.seed++
			if texts(t, s, once) == texts(t, other, bubble(t, other)) {
				t.Error("another seed, the same files")
			}
			a, _ := once.report.Account(s.account())
			require.Greater(t, len(a.Trades), 1)
			require.NoError(t, once.stopped)
		})
	}
}

// TestThirtyDays is the promise: a month of polling every three seconds, in well under
// a minute.
func TestThirtyDays(t *testing.T) {
	s := settings{days: 30, seed: 1, step: 1}
	if testing.Short() || raceDetector {
		s.days = 1
	}
	began := time.Now()
	r := bubble(t, s)
	t.Logf("%d requests in %d days of virtual time took %s", r.report.Sent(), s.days, time.Since(began).Round(time.Millisecond))
	require.NoError(t, r.stopped)
	require.GreaterOrEqual(t, r.report.Sent(), s.days*24*60*20)
	require.Equal(t, time.Duration(s.days)*24*time.Hour, r.report.To.Sub(r.report.From).Truncate(time.Hour))
	require.Zero(t, r.report.Unanswered)
	a, ok := r.report.Account("")
	require.True(t, ok)
	require.LessOrEqual(t, len(a.Curve), 10_000+2*a.Fills+1)
	if s.days == 30 { // wherever and whenever it runs
		require.Equal(t, "99243.80", a.Balance.StringFixed(2))
		require.Len(t, a.Trades, 85)
	}
}

func TestARecordingInsteadOfAWalk(t *testing.T) {
	s := settings{days: someDays(), marks: "marks.csv"}
	once, again := bubble(t, s), bubble(t, s)
	if texts(t, s, once) != texts(t, s, again) {
		t.Error("the same recording, other files")
	}
	a, _ := once.report.Account("")
	require.NotEmpty(t, a.Trades)

	synctest.Test(t, func(t *testing.T) {
		for _, bad := range []settings{{days: 1, marks: "main.go"}, {days: 1, marks: "nowhere.csv"}, {}} {
			_, err := backtest(t, bad)
			require.Error(t, err)
		}
	})
}

// TestCommittedMarks holds the recording against the command that the README says has
// made it.
func TestCommittedMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marks.csv")
	_, errs, status := program(t, "-record", file, "-days", "7", "-seed", "7")
	require.Equal(t, 0, status, errs)
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, err := os.ReadFile("marks.csv")
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "make marks.csv anew")
}

func TestSummaryOfABotThatStopped(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := tradingsim.AccountReport{Curve: []tradingsim.Point{{At: start}, {At: start.Add(36 * time.Hour)}}}
	r := result{report: tradingsim.Report{From: start}, stopped: io.ErrUnexpectedEOF}
	var out strings.Builder
	summary(&out, arguments{}, r, a)
	require.Contains(t, out.String(), "stopped       after 36h0m0s: unexpected EOF")
	require.Contains(t, out.String(), "to unknown")
}
