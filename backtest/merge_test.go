package backtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// madePart is a part without a run, as a machine writes it.
func madePart(t testing.TB, shard, shards, variants int) *Part {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := []tried{{attempt: attempt{Bot: "bot", Symbols: []string{"BTC"}, From: at, To: at.Add(time.Hour), SHA256: "aa"}}}
	p := &Part{Shard: shard, Shards: shards, Program: "p", Data: "d", Config: "c", variants: variants, train: of, test: of}
	for _, i := range variantsOf(shard, shards, variants) {
		run := &Result{From: at, To: at.Add(time.Hour), Paths: []Path{{Until: at.Add(time.Hour), Return: figure(float64(i) / 100)}}}
		p.rows = append(p.rows, partRow{Variant: i, Name: fmt.Sprint(i), Score: figure(float64(i)), Runs: []*Result{run}, Test: []*Result{run}})
	}
	return p
}

// again writes a part and reads it.
func again(t testing.TB, p *Part) *Part {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d.json", p.Shard))
	require.NoError(t, p.WriteFile(name))
	read, err := ReadPartFile(name)
	require.NoError(t, err)
	return read
}

func TestMergeRefuses(t *testing.T) {
	part := func(shard int, change func(*Part)) *Part {
		p := again(t, madePart(t, shard, 3, 5))
		p.name = filepath.Base(p.name)
		if change != nil {
			change(p)
		}
		return p
	}
	all := []*Part{part(1, nil), part(2, nil), part(3, nil)}
	result, err := Merge(all, "")
	require.NoError(t, err)
	require.Equal(t, "4", result.Rows[0].Name)
	require.Equal(t, 5, result.Tried)

	for want, parts := range map[string][]*Part{
		"there is no part":                                  nil,
		"of 3 shards these have no part: 2, 3":              {all[0]},
		"part-1.json and part-1.json are both shard 1 of 3": {all[0], part(1, nil), all[1], all[2]},
		"part-1.json and part-2.json are of different sweeps: the program is p in the first, and other in the second":      {all[0], part(2, func(p *Part) { p.Program = "other" }), all[2]},
		"the data is d in the first, and other in the second":                                                              {all[0], part(2, func(p *Part) { p.Data = "other" }), all[2]},
		"the config is c in the first, and other in the second":                                                            {all[0], part(2, func(p *Part) { p.Config = "other" }), all[2]},
		"part-1.json and part-1.json are of different sweeps: the number of shards is 3 in the first, and 2 in the second": {all[0], again(t, madePart(t, 1, 2, 5))},
		"the number of shards is 1 in the first, and 3 in the second":                                                      {again(t, madePart(t, 1, 1, 5)), all[2]},
	} {
		_, err := Merge(parts, "")
		require.ErrorContains(t, err, "backtest: merge: ")
		text := err.Error()
		for _, p := range parts {
			text = strings.ReplaceAll(text, p.name, filepath.Base(p.name))
		}
		require.Contains(t, text, want)
	}
}

// TestTheBestBreaksOnTheTest: then there is no result, wherever its part was made.
func TestTheBestBreaksOnTheTest(t *testing.T) {
	parts := []*Part{madePart(t, 1, 2, 4), madePart(t, 2, 2, 4)}
	parts[0].rows[1].Test, parts[0].rows[1].TestErr = nil, "it panicked" // the best of its shard alone
	_, err := Merge([]*Part{again(t, parts[0]), again(t, parts[1])}, "")
	require.NoError(t, err)
	parts[1].rows[1].Test, parts[1].rows[1].TestErr = nil, "it panicked"
	_, err = Merge([]*Part{again(t, parts[0]), again(t, parts[1])}, "")
	require.EqualError(t, err, "backtest: 3 on the test prices: it panicked")
}

// TestShardsWithoutVariants: there may be more shards than variants.
func TestShardsWithoutVariants(t *testing.T) {
	var parts []*Part
	for i := range 5 {
		parts = append(parts, again(t, madePart(t, i+1, 5, 2)))
	}
	result, err := Merge(parts, "")
	require.NoError(t, err)
	require.Len(t, result.Rows, 2)
}

// TestEachVariantIsOfOneShard, whatever their numbers are.
func TestEachVariantIsOfOneShard(t *testing.T) {
	for shards := 1; shards <= 9; shards++ {
		for variants := range 20 {
			seen := map[int]int{}
			for shard := range shards {
				for _, i := range variantsOf(shard+1, shards, variants) {
					seen[i]++
				}
			}
			require.Len(t, seen, variants)
			for i, n := range seen {
				require.Equal(t, 1, n)
				require.Less(t, i, variants)
			}
		}
	}
}

// TestAPartThatCannotBeMeant is refused when it is read.
func TestAPartThatCannotBeMeant(t *testing.T) {
	for want, change := range map[string]func(*Part){
		"shard 4 of 3":                    func(p *Part) { p.Shard = 4 },
		"shard 1 of 200000":               func(p *Part) { p.Shards = 200_000 },
		"2 variants of 50":                func(p *Part) { p.variants = 50 },
		"variant 1 is of another shard":   func(p *Part) { p.rows[0].Variant = 1 },
		`variant "0" has 0 runs of 1`:     func(p *Part) { p.rows[0].Runs = nil },
		"a run without a path":            func(p *Part) { p.rows[0].Runs[0] = &Result{} },
		`the best variant "3" has 0 test`: func(p *Part) { p.rows[1].Test = nil },
	} {
		p := madePart(t, 1, 3, 5)
		change(p)
		name := filepath.Join(t.TempDir(), "part.json")
		require.NoError(t, p.WriteFile(name))
		_, err := ReadPartFile(name)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, want)
	}

	name := filepath.Join(t.TempDir(), "part.json")
	require.NoError(t, madePart(t, 1, 3, 5).WriteFile(name))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for want, wrong := range map[string]string{
		"this is no part of a sweep":             string(text[:len(text)/2]),
		"the part is not as it was written":      strings.Replace(string(text), `"Name":"3"`, `"Name":"4"`, 1),
		"has format 2, and this version reads 1": strings.Replace(string(text), `"Format":1`, `"Format":2`, 1),
	} {
		_, err := ReadPart(strings.NewReader(wrong))
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, madePart(t, 1, 3, 5).WriteFile(filepath.Join(name, "nowhere")), "not a directory")
}

var exponent = regexp.MustCompile(`[0-9.][eE]`)

// FuzzReadPart: no text is accepted that a merge breaks on.
func FuzzReadPart(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		sum := sha256.Sum256(text)
		whole, err := json.Marshal(partFile{partFormat, hex.EncodeToString(sum[:]), text})
		if err != nil {
			return
		}
		p, err := ReadPart(strings.NewReader(string(whole)))
		if err != nil || exponent.Match(text) {
			return // what is computed of a price of 10 to the power of a million takes an age
		}
		if _, err := Merge([]*Part{p}, ""); err == nil && p.Shards != 1 {
			t.Errorf("one part of %d is enough", p.Shards)
		}
	})
}

// What shardProgram is asked for.
const (
	shardOf  = "BACKTEST_SHARD"       // such as 3/7
	partOf   = "BACKTEST_PART"        // the file
	stuckOf  = "BACKTEST_STUCK"       // a file that a bot writes before it hangs
	otherRun = "BACKTEST_SHARD_OTHER" // what differs
)

// shardSweep has 15 variants, one of which panics, and one the same score as another.
func shardSweep() Sweep {
	s := Sweep{Pool: Pool{Workers: 2, Timeout: time.Minute, Progress: io.Discard}}
	for size := range 14 {
		s.Variants = append(s.Variants, sized(size+1))
	}
	s.Variants = append(s.Variants, Variant{"panics", brokenBots["panics"]}, Variant{"14 again", sized(14).Bot})
	train, test := Config{Name: "bot", Data: walkOf(1)}, Config{Name: "bot", Data: walkOf(3)}
	switch os.Getenv(otherRun) {
	case "seed":
		train.Seed = 9
	case "data":
		train.Data = walkOf(2)
	case "variant":
		s.Variants[0].Name = "another"
	}
	s.Train, s.Test = []Config{train, {Name: "bot", Data: walkOf(5)}}, []Config{test}
	stuck := os.Getenv(stuckOf)
	if stuck == "" {
		return s
	}
	for i := range s.Variants {
		bot := s.Variants[i].Bot
		s.Variants[i].Bot = func(ctx context.Context, client *trading.Client) error {
			if i < 8 {
				return bot(ctx, client)
			}
			if err := os.WriteFile(stuck, nil, 0o600); err != nil {
				return err
			}
			for { //nolint:staticcheck // until it is killed
			}
		}
	}
	return s
}

// shardProgram makes one shard, or the whole sweep.
func shardProgram(r *Runner) int {
	var shard, shards int
	if _, err := fmt.Sscanf(os.Getenv(shardOf), "%d/%d", &shard, &shards); err == nil {
		part, err := r.SweepPart(shardSweep(), shard, shards)
		if err == nil {
			err = part.WriteFile(os.Getenv(partOf))
		}
		if err != nil {
			return fatal(err)
		}
		return 0
	}
	result, err := r.Sweep(shardSweep())
	if err != nil {
		return fatal(err)
	}
	fmt.Print(everythingOf(result))
	return 0
}

// everythingOf is a result to the last digit, but for where in memory a bot panicked.
func everythingOf(r *SweepResult) string {
	one := *r
	one.Rows = append([]SweepRow{}, r.Rows...)
	for i := range one.Rows {
		one.Rows[i].Err = firstLine(one.Rows[i].Err)
	}
	text, err := json.MarshalIndent(one, "", " ")
	if err != nil {
		panic(err)
	}
	return r.String() + string(text)
}

// shard starts one shard as a process.
func shard(t *testing.T, which, file string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), asProgram+"=shard", shardOf+"="+which, partOf+"="+file), env...)
	cmd.Stderr = &bytes.Buffer{}
	require.NoError(t, cmd.Start())
	return cmd
}

func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Wait(), cmd.Stderr)
}

// TestShardsOnManyMachines: seven processes, one of which is killed and run again, give what one gives.
func TestShardsOnManyMachines(t *testing.T) {
	skipUnderRace(t)
	if testing.Short() {
		t.Skip("60 runs")
	}
	one := works(t, "shard")
	require.Contains(t, one, "16 variants tried, 1 broken")
	dir := t.TempDir()
	file := func(i int) string { return filepath.Join(dir, fmt.Sprintf("part-%d.json", i)) }

	stuck := filepath.Join(dir, "stuck")
	killed := shard(t, "3/7", file(3), stuckOf+"="+stuck)
	require.Eventually(t, func() bool { _, err := os.Stat(stuck); return err == nil }, time.Minute, time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.ErrorContains(t, killed.Wait(), "killed")
	require.NoFileExists(t, file(3))
	require.NoFileExists(t, file(3)+".half")

	var parts []*Part
	for i := 7; i >= 1; i-- {
		ended(t, shard(t, fmt.Sprintf("%d/7", i), file(i)))
		part, err := ReadPartFile(file(i))
		require.NoError(t, err)
		parts = append(parts, part)
	}
	merged, err := Merge(parts, "")
	require.NoError(t, err)
	require.Equal(t, one, everythingOf(merged))

	// The attempts are counted once, by the merge.
	attempts := filepath.Join(dir, "attempts")
	for times := 1; times <= 2; times++ {
		counted, err := Merge(parts, attempts)
		require.NoError(t, err)
		require.Equal(t, times, counted.Best[0].Finding.Attempts)
		text, err := os.ReadFile(attempts)
		require.NoError(t, err)
		require.Equal(t, 2*times, strings.Count(string(text), `"variants":16}`), "on two train runs")
	}

	// What is not of this sweep is refused, and named.
	for other, want := range map[string]string{
		"seed": "the config is", "data": "the data is", "variant": "the config is",
	} {
		wrong := filepath.Join(dir, other+".json")
		ended(t, shard(t, "7/7", wrong, otherRun+"="+other))
		part, err := ReadPartFile(wrong)
		require.NoError(t, err)
		_, err = Merge(append([]*Part{part}, parts[1:]...), "")
		require.ErrorContains(t, err, wrong+" and "+file(6)+" are of different sweeps: "+want)
	}
}
