package trial

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	judge "github.com/tradingapi/trading-go/tradingtest/trial"
)

// The test binary is the command for its children.
func TestMain(m *testing.M) {
	Kept(os.Args)
	os.Exit(m.Run())
}

// sleeper is a program that runs until it is killed.
func sleeper(t *testing.T, argv ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if len(argv) == 0 {
		argv = []string{"sleep", "600"}
	}
	p := &process{self: self, argv: func() []string { return argv }, env: os.Environ(), output: filepath.Join(t.TempDir(), "out")}
	t.Cleanup(func() { _ = p.end() })
	return p
}

func runs(p *process) bool {
	select {
	case <-p.Ended():
		return false
	default:
		return true
	}
}

// A program is started where it does not run, and says how it ended.
func TestAProgram(t *testing.T) {
	p := sleeper(t, "sh", "-c", "echo one; echo two; exit 3")
	require.False(t, runs(p))
	require.NoError(t, p.end(), "it has not begun")
	require.NoError(t, p.Start())
	<-p.Ended()
	require.Equal(t, `exit status 3, "two"`, p.How())
	again := sleeper(t)
	require.NoError(t, again.Start())
	first := again.ended
	require.NoError(t, again.Start(), "it runs")
	require.Equal(t, first, again.ended)
	require.NoError(t, again.end())
	require.False(t, runs(again))
	require.Error(t, sleeper(t, "sh", "-c", "exit 0").startIn(t, filepath.Join(t.TempDir(), "none", "out")))
}

func (p *process) startIn(t *testing.T, output string) error {
	t.Helper()
	p.output = output
	return p.Start()
}

// What a kill does not reach, such as a container, a command of the owner's kills.
func TestTheKillCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "killed")
	p := sleeper(t)
	p.env, p.kill = append(p.env, "FILE="+file), `echo "$FILE" > "$FILE"`
	require.NoError(t, p.Start())
	require.NoError(t, p.end())
	require.FileExists(t, file)
	p.kill = "echo no such container; exit 3"
	require.NoError(t, p.Start())
	require.ErrorContains(t, p.end(), "--kill-command: exit status 3: no such container")
	require.False(t, runs(p))
}

// Behind a sidecar each is killed in turn, and which is first a seed says.
func TestEachIsKilledInTurn(t *testing.T) {
	p := &pair{process: sleeper(t), sidecar: sleeper(t)}
	for turn, left := range [][2]bool{{false, true}, {true, false}, {false, false}, {false, true}} {
		require.NoError(t, p.process.Start())
		require.NoError(t, p.sidecar.Start())
		part, err := p.Kill()
		require.NoError(t, err)
		require.Equal(t, part, left != [2]bool{}, "turn %d", turn)
		require.Equal(t, left, [2]bool{runs(p.process), runs(p.sidecar)}, "turn %d", turn)
	}
}

// The speed is at most 150, or what leaves the shortest time-out 50 ms; a program in Go has its own.
func TestSpeed(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bot"), []byte("#!/bin/sh\n"), 0o700))
	prepare := func(speed float64, timeout time.Duration, argv ...string) (float64, string, error) {
		var says strings.Builder
		r := &runner{app: &cli.App{Err: &says}, speed: speed, manifest: judge.Manifest{Timeout: judge.Duration(timeout)}}
		err := r.prepared(argv, func() error { return nil })
		return r.speed, says.String(), err
	}
	t.Setenv("PATH", bin)
	_, _, err := prepare(60, time.Minute, "bot")
	require.ErrorContains(t, err, "--speed needs the program faketime")
	_, _, err = prepare(1, time.Minute, "bot")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "faketime"), []byte("#!/bin/sh\n"), 0o700))
	for _, row := range []struct {
		speed, want float64
		timeout     time.Duration
	}{{60, 60, 10 * time.Second}, {1000, 150, 10 * time.Second}, {60, 20, time.Second}, {0.5, 1, time.Second}, {60, 1, 10 * time.Millisecond}} {
		got, says, err := prepare(row.speed, row.timeout, "bot")
		require.NoError(t, err)
		assert.InDelta(t, row.want, got, 0)
		assert.Equal(t, row.want < row.speed, strings.Contains(says, "--speed is"), says)
	}
	_, _, err = prepare(60, time.Minute, os.Args[0])
	require.ErrorContains(t, err, "is a program in Go, whose clock nobody can make fast")
	_, _, err = prepare(1, time.Minute, "none")
	require.Error(t, err)
}

// A replay is one line for the shell.
func TestReplay(t *testing.T) {
	cmd := &cobra.Command{}
	r := &runner{app: &cli.App{}, counts: "5,1"}
	r.program(cmd)
	cmd.Flags().String("manifest", "trial.json", "")
	require.NoError(t, cmd.ParseFlags([]string{"--speed=60", "--kill-command=docker kill bot"}))
	require.NoError(t, r.complete(cmd, []string{"python3", "it's a bot.py", "{dir}/state"}))
	require.Equal(t, `trading trial --only 'lost reply' --seed 7 --counts 5,1 --speed=60 --kill-command='docker kill bot' -- python3 'it'\''s a bot.py' '{dir}/state'`,
		r.replay(judge.Outcome{Scenario: "lost reply", Seed: 7}))
}

// A case is a judgement in a scenario, what was not exercised is skipped, and the worst seed counts.
func TestJUnit(t *testing.T) {
	one := func(seed uint64, v judge.Verdict) judge.Outcome {
		return judge.Outcome{Scenario: "lost reply", Seed: seed, Replay: "again", Findings: []judge.Finding{
			{Judgement: judge.BlindResend, Verdict: v, Reason: "double", Text: "It ordered twice."},
			{Judgement: judge.Exposure, Verdict: judge.Warn, Text: "Much."},
			{Judgement: judge.Zero, Verdict: judge.NotExercised, Text: "no mark was missing"},
		}}
	}
	file := filepath.Join(t.TempDir(), "trial.xml")
	broken := judge.Outcome{Scenario: "locked", NoResult: "the port is taken"}
	require.NoError(t, WriteJUnit(file, []judge.Outcome{one(1, judge.Pass), one(2, judge.Fail), broken}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var got suites
	require.NoError(t, xml.Unmarshal(text, &got))
	require.Len(t, got.Suites, 2)
	cases := map[string]testCase{}
	for _, c := range got.Suites[0].Cases {
		cases[c.Name] = c
	}
	require.Len(t, cases, len(judge.Judgements()))
	require.Equal(t, "double", cases[judge.BlindResend].Failure.Message)
	require.Contains(t, cases[judge.BlindResend].Failure.Text, "seed 2\nFAIL blind resend: It ordered twice.")
	require.Nil(t, cases[judge.BlindResend].Skipped)
	require.Contains(t, cases[judge.Exposure].Output, "WARN exposure")
	require.Nil(t, cases[judge.Exposure].Failure)
	require.Equal(t, "not exercised: no mark was missing", cases[judge.Zero].Skipped.Message)
	require.Equal(t, "the port is taken", got.Suites[1].Cases[0].Error.Text)
}
