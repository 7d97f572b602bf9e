package backtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

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
