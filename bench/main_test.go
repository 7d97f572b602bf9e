package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets this program be the other processes of a run too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestRun runs every part once, with as few calls as there can be, and looks for
// its table and for everybody in it.
func TestRun(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // of the other processes, which are many
	var out, progress bytes.Buffer
	args := []string{"-rounds", "1", "-less", "1000", "-dir", t.TempDir()}
	if err := run(t.Context(), args, strings.NewReader(""), &out, &progress); err != nil {
		t.Fatal(err, progress.String())
	}
	sections := strings.Split(out.String(), "\n### ")
	want := []string{
		"(a) An order over loopback, one", "(a) An order over loopback, 64", "(a) An order over loopback, 1000",
		"(b) ", "(d) What a user", "(d) What takes seconds",
	}
	if len(sections) != len(want)+1 {
		t.Fatalf("%d sections, want %d:\n%s", len(sections)-1, len(want), out.String())
	}
	for i, begin := range want {
		if !strings.HasPrefix(sections[i+1], begin) {
			t.Errorf("section %d begins %.30q, want %q", i, sections[i+1], begin)
		}
	}
	for _, c := range contenders() {
		for i, has := range map[int]bool{1: true, 2: !c.lone, 4: !c.own} {
			if want := has && !c.hidden; strings.Contains(sections[i], "| "+c.name+" |") != want {
				t.Errorf("%s in section %d: %v, want %v", c.name, i, !want, want)
			}
		}
	}
	for _, row := range []string{
		"works on it for 3s", "swallows and acknowledges", "all replies lost", "beside entries", "after a restart with many",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no row with %q", row)
		}
	}
	if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
		t.Error("a figure is none:", out.String())
	}
}

// TestOnly runs what it is told to, and nothing for what it does not know.
func TestOnly(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-rounds", "1", "-less", "1000", "-only", "b", "-contender", "hcloud"}, strings.NewReader(""), &out, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "### (b)") || strings.Contains(out.String(), "### (a)") {
		t.Error(out.String())
	}
	if !strings.Contains(out.String(), "| hcloud-go |") || strings.Contains(out.String(), "stripe-go |") {
		t.Error(out.String())
	}
	for _, args := range [][]string{{"-rounds", "0"}, {"-less", "0"}, {"-child", "other"}, {"-only", "x"}, {"-only", "e"}, {"-nonsense"}} {
		if err := run(t.Context(), args, strings.NewReader(""), &out, &out); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

// What the tests of other modules log is a row, or why there is none.
func TestMeasurements(t *testing.T) {
	out := []byte("    a_test.go:9: measured 2 times: median 40ms, longest 1.5s\n    a_test.go:9: measured 1 times: median 3ms, longest 3ms\nok\n")
	of, medians, longest, err := measurements(out)
	if of != 3 || len(medians) != 2 || longest != 1500*time.Millisecond || err != nil {
		t.Error(of, medians, longest, err)
	}
	if _, _, _, err := measurements([]byte("measured 2 times: median 40, longest 1s")); err == nil {
		t.Error("40 is no time")
	}
	for out, want := range map[string]string{
		"--- SKIP: TestX\n    real_test.go:62: redis-server is missing\nok\n": "redis-server is missing",
		"testing: warning: no tests to run\n":                                 "its test has measured nothing",
	} {
		if why := skipped([]byte(out)); why != want {
			t.Error(why)
		}
	}
}
