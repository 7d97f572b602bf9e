package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measuredByTests are the rows whose worlds are tests of other modules: Redis, a database, a crowd behind a
// sidecar. Each test logs what it has measured.
var measuredByTests = []struct {
	what, dir, test string
	times           int // as a run of it has one value
}{
	{"an exit, Redis is away for 3 s while twenty bots in four processes fill the limits", "contrib/redis", "^TestFound12_RedisStopsAtSaturation$/^killed_", 1},
	{"an exit of one of 500 bots behind a sidecar is at the service", "sidecar", "^TestFound17_ExitsOfACrowd$", 1},
	{"an entry is taken again after a database's hiccup befell an order", "contrib/postgres", "^TestFound11_AnOrderThatNeverLeft$", 7},
}

// measured is what a test logs.
var measured = regexp.MustCompile(`measured (\d+) times: median (\S+), longest (\S+)$`)

// byTests runs them one after the other, and returns which were left out, and why.
func byTests(ctx context.Context, t *table) (left []string, err error) {
	for _, row := range measuredByTests {
		cmd := exec.CommandContext(ctx, "go", "test", "-v", "-count", strconv.Itoa(row.times), "-run", row.test, ".")
		cmd.Dir = filepath.Join("..", filepath.FromSlash(row.dir))
		out, failed := cmd.CombinedOutput()
		of, medians, longest, err := measurements(out)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", row.what, err)
		case failed != nil:
			return nil, fmt.Errorf("%s: go test in %s: %w\n%s", row.what, row.dir, failed, out)
		case of == 0:
			left = append(left, fmt.Sprintf("%s: %s", row.what, skipped(out)))
			continue
		}
		slices.Sort(medians)
		t.row(row.what, number(float64(of)), "", inSeconds(medians[(len(medians)-1)/2]), inSeconds(longest))
	}
	return left, nil
}

// measurements are what a run of a test has logged.
func measurements(out []byte) (of int, medians []time.Duration, longest time.Duration, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		m := measured.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		n, wrong := strconv.Atoi(m[1])
		median, wrongMedian := time.ParseDuration(m[2])
		most, wrongMost := time.ParseDuration(m[3])
		if wrong != nil || wrongMedian != nil || wrongMost != nil {
			return 0, nil, 0, fmt.Errorf("not a measurement: %q", m[0])
		}
		of, medians, longest = of+n, append(medians, median), max(longest, most)
	}
	return of, medians, longest, nil
}

// skipped is why a test measured nothing.
func skipped(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if _, why, is := strings.Cut(line, "_test.go:"); is {
			if _, text, is := strings.Cut(why, ": "); is {
				return strings.TrimSpace(text)
			}
		}
	}
	return "its test has measured nothing"
}
