package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// TestTranscripts runs the files of testdata/transcripts; its README says how they read. Each section has
// a simulation, a folder and a clock of its own.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			preamble, rest, _ := strings.Cut(string(text), "\n== ")
			preamble += "\n"
			got := []string{preamble}
			for section := range strings.SplitSeq(rest, "\n== ") {
				name, _, _ := strings.Cut(section, "\n")
				t.Run(name, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "buy&hold") // which a shell takes for two commands, unless it is quoted
					require.NoError(t, os.Mkdir(dir, 0o700))
					play := func(t *testing.T) {
						s := newScript(t, dir)
						s.play(preamble)
						s.said.Reset()
						s.play(section)
						got = append(got, "== "+s.said.String())
						if !*update {
							assert.Equal(t, strings.TrimRight(section, "\n"), strings.TrimRight(s.said.String(), "\n"), "go test . -run TestTranscripts -update writes %s anew", file)
						}
					}
					if strings.Contains(preamble, "\n% real time\n") {
						play(t)
						return
					}
					synctest.Test(t, play)
				})
			}
			if *update && len(got) == strings.Count(string(text), "\n== ")+1 {
				for i := range got {
					got[i] = strings.TrimRight(got[i], "\n") + "\n"
				}
				require.NoError(t, os.WriteFile(file, []byte(strings.Join(got, "\n")), 0o644))
			}
		})
	}
}

// script is a section that runs.
type script struct {
	*rig
	dir  string
	said strings.Builder
	ids  []string // in the order of their appearance

	next       func(args ...string) (code int, out, errs string) // in place of run, for the next command
	endCommand func() (code int, out, errs string)               // the one that runs in the background
	endBot     func()

	balance string        // at the end of the trades of a file
	thinks  time.Duration // before they type
	keeps   string        // the file for what the next command prints

	toldRequests, toldExecutions int
}

func newScript(t *testing.T, dir string) *script {
	s := &script{rig: newRig(t), dir: dir}
	s.env[len(s.env)-1] = "XDG_STATE_HOME=" + dir
	t.Cleanup(func() {
		if s.endCommand != nil {
			s.endCommand()
		}
	})
	return s
}

// play runs the lines of a section, and writes what they give to said.
func (s *script) play(section string) {
	lines := strings.SplitAfter(section, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		s.said.WriteString(line)
		command, typed := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ trading ")
		happens, world := strings.CutPrefix(strings.TrimSpace(line), "% ")
		verb, rest, _ := strings.Cut(happens, " ")
		if typed || world && verb == "end" {
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "->"); i++ { // what it printed before
			}
		}
		switch {
		case typed:
			s.command(command)
		case world:
			do := verbs[verb]
			require.NotNil(s.t, do, "%s: want one of %q", line, slices.Sorted(maps.Keys(verbs)))
			do(s, s.fill(rest))
		default:
			require.True(s.t, i == 0 || line == "" || line == "\n" || strings.HasPrefix(line, "# "), "%q is neither said by a command nor for one", line)
		}
	}
}

func (s *script) command(line string) {
	line, background := strings.CutSuffix(line, " &")
	args := shellWords(s.t, s.fill(line))
	if background {
		s.background(args)
		fmt.Fprintln(&s.said, "-> it runs")
		return
	}
	run := s.run
	if s.next != nil {
		run, s.next = s.next, nil
	}
	s.tell(run(args...))
}

// background starts a command. Its end interrupts it if it still runs.
func (s *script) background(args []string) {
	ctx, interrupt := context.WithCancel(s.ctx)
	var out, errs bytes.Buffer
	app := s.app(strings.NewReader(""), &out, &errs)
	code := make(chan int, 1)
	go func() { code <- app.Run(ctx, newRoot(app), args) }()
	s.endCommand = func() (int, string, string) {
		s.endCommand = nil
		interrupt()
		ended := <-code
		s.keyless(out.String() + errs.String())
		return ended, out.String(), errs.String()
	}
}

// tell writes how a command ended.
func (s *script) tell(code int, out, errs string) {
	if s.keeps != "" {
		require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, s.keeps), []byte(out), 0o600))
		s.keeps = ""
	}
	for line := range strings.Lines(s.words(out + errs)) {
		assert.NotRegexp(s.t, unquoted, line, "a shell does not take this command back")
	}
	s.said.WriteString(s.words(out))
	if out != "" && !strings.HasSuffix(out, "\n") {
		s.said.WriteString("\n")
	}
	for line := range strings.Lines(s.words(errs)) {
		s.said.WriteString("2> " + strings.TrimSuffix(line, "\n") + "\n")
	}
	fmt.Fprintf(&s.said, "-> %d", code)
	s.said.WriteString(s.served() + "\n")
}

// served is what the service saw and did since the last time. How often a write in doubt is asked about is
// another number each time, so that of writes only those are told that were executed.
func (s *script) served() string {
	requests, ledger := s.sim.Requests()[s.toldRequests:], s.sim.Ledger()[s.toldExecutions:]
	s.toldRequests += len(requests)
	s.toldExecutions += len(ledger)
	var done string
	for _, e := range ledger {
		switch {
		case e.Actor == "api" && e.Filled:
			done += fmt.Sprintf(", executed %s: %s %s %s", e.Operation, e.Side, e.Size, e.Symbol)
		case e.Actor == "api":
			done += ", executed " + e.Operation
		}
	}
	switch {
	case done != "":
		return done
	case len(requests) == 0:
		return ", nothing sent"
	case slices.ContainsFunc(requests, func(r tradingsim.Request) bool { return r.Body != nil && strings.HasPrefix(r.Operation, "POST ") }):
		return ", nothing executed"
	}
	return ", only reads sent"
}

// What is another one each time, and the words that stand for it.
var (
	idForm = regexp.MustCompile(`(\bcli-)?\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b(-\d+\b)?`)
	inWide = regexp.MustCompile(`\$DIR\S* {2,}`)
	spaces = regexp.MustCompile(`(\S) {2,}`)
	// unquoted is a command that names a file by more than a word of the shell.
	unquoted = regexp.MustCompile(`trading [^:]*--[a-z-]+[ =]\$DIR`)
	others   = []struct {
		form *regexp.Regexp
		word string
	}{
		{regexp.MustCompile(`\bpk_(live|test)_local_\w+`), "$$LOCAL_KEY"},
		{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "$$HASH"},
		{regexp.MustCompile(`\b[A-Z2-7]{26}\b`), "$$REQUEST"},
		{regexp.MustCompile(`\b(at|to) byte \d+`), "$1 byte $$N"},
		{regexp.MustCompile("\x1b"), "\u241b"},
	}
)

func (s *script) words(text string) string {
	text = strings.NewReplacer(s.dir, "$DIR", s.sim.URL(), "$URL").Replace(text)
	if inWide.MatchString(text) { // a column is as wide as the name of a folder
		text = spaces.ReplaceAllString(text, "$1  ")
	}
	for _, other := range others {
		text = other.form.ReplaceAllString(text, other.word)
	}
	return idForm.ReplaceAllStringFunc(text, func(id string) string {
		at := slices.Index(s.ids, id)
		if at < 0 {
			at, s.ids = len(s.ids), append(s.ids, id)
		}
		return fmt.Sprintf("$ID%d", at+1)
	})
}

// fill puts in what the words stand for.
func (s *script) fill(line string) string {
	line = strings.NewReplacer("$DIR", s.dir, "$URL", s.sim.URL(), "$LIVE_KEY", s.sim.LiveKey(), "$SANDBOX_KEY", s.sim.SandboxKey(), "$BALANCE", s.balance, "\u241b", "\x1b").Replace(line)
	for i, id := range s.ids {
		line = strings.ReplaceAll(line, fmt.Sprintf("$ID%d", i+1), id)
	}
	return line
}

var wordForm = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)

// shellWords are the words of a line, as a shell would have them: ” keeps what is between them.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	all := wordForm.FindAllString(line, -1)
	for i, word := range all {
		all[i] = strings.ReplaceAll(word, "'", "")
	}
	return all
}

// interrupted runs a command at a keyboard on which nobody types, and interrupts it after a while.
func (s *script) interrupted(after time.Duration, args ...string) (code int, out, errs string) {
	before := s.ctx
	ctx, interrupt := context.WithCancel(before)
	defer interrupt()
	keyboard, keys := io.Pipe()
	s.in, s.ctx = keyboard, ctx
	if time.AfterFunc(after, interrupt); after == 0 {
		interrupt()
	}
	code, out, errs = s.run(args...)
	s.in, s.ctx = nil, before
	require.NoError(s.t, keys.Close())
	return code, out, errs
}
