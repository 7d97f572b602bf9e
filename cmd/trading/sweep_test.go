package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// TestSweep: two shards, built in two folders, are merged to what one machine gives.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	r := newBotModule(t)
	here, err := os.Getwd()
	require.NoError(t, err)
	other := t.TempDir() // another machine's
	require.NoError(t, os.CopyFS(other, os.DirFS(here)))
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		text, err := os.ReadFile(file(name))
		require.NoError(t, err)
		return string(text)
	}
	sweep := func(more ...string) []string {
		return append([]string{"backtest", "./swept", "--sweep", "--prices", "candles.csv", "--candles", "open", "--split", "2026-03-01T00:02:00Z", "--funding", "funding.csv"}, more...)
	}
	one := r.done(sweep("--report", file("one.html"), "--result", file("one.json"))...)
	require.Contains(t, one, "4 variants tried, 1 broken")
	require.Contains(t, one, "panics                   broken: it panicked: no")
	require.NotContains(t, one, "the bot prints")
	require.Contains(t, read("one.html"), "funding.csv")

	out := r.done(sweep("--shard", "1/2", "--out", file("part-1.json"))...)
	require.Equal(t, file("part-1.json")+": shard 1 of 2\n", out)
	require.NoFileExists(t, file("attempts"))
	t.Chdir(other)
	r.env = append(r.env, "JOB_COMPLETION_INDEX=1")
	r.done(sweep("--shard", "auto/2", "--out", file("part-2.json"))...)

	merged := r.done("backtest", "merge", file("part-2.json"), file("part-1.json"), "--report", file("two.html"), "--result", file("two.json"))
	assert.Equal(t, one, merged)
	assert.Equal(t, read("one.html"), read("two.html"))
	assert.Equal(t, read("one.json"), read("two.json"))
	assert.Equal(t, read("one.html.attempts"), read("two.html.attempts"))
	assert.Equal(t, 2, strings.Count(read("two.html.attempts"), "\n"))

	var v sweepView
	require.NoError(t, json.Unmarshal([]byte(r.done("backtest", "merge", file("part-1.json"), file("part-2.json"), "-o", "json")), &v))
	assert.Equal(t, 4, v.Tried)
	assert.Equal(t, "broken: it panicked: no", v.Variants[3].None)
	assert.Nil(t, v.Variants[3].Score)
	assert.Equal(t, v.Variants[0].Name, v.Best.Name)

	code, _, errs := r.run("backtest", "merge", file("part-2.json"), file("one.json"), file("none.json"))
	assert.Equal(t, cli.NotApplied, code)
	assert.Contains(t, errs, "one.json: backtest: the part has format 0")
	assert.Contains(t, errs, "none.json: no such file")
	r.ends(cli.NotApplied, "of 2 shards these have no part: 1", "backtest", "merge", file("part-2.json"))
	r.ends(cli.NotApplied, "does not build with the variants of func Bot() []backtest.Variant", "backtest", "./internal/bot", "--sweep", "--func", "Bot", "--days", "1")
}

func TestShardOfATask(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		shard int
		says  string
	}{
		{map[string]string{"JOB_COMPLETION_INDEX": "0"}, 1, ""},
		{map[string]string{"JOB_COMPLETION_INDEX": "49"}, 50, ""},
		{map[string]string{"JOB_COMPLETION_INDEX": "50"}, 0, "the number of this task is 51, and there are 50 shards"},
		{map[string]string{"JOB_COMPLETION_INDEX": "x"}, 0, "want a number"},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "1"}, 1, ""},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "50"}, 50, ""},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "0"}, 0, "the number of this task is 0"},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "1"}, 0, "both"},
	} {
		shard, shards, err := shardOf("auto/50", func(name string) string { return c.env[name] })
		if c.says != "" {
			assert.ErrorContains(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, [2]int{c.shard, 50}, [2]int{shard, shards})
	}
}
