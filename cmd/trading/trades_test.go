package main

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTradesForOtherPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		none, err := csv.NewReader(strings.NewReader(r.done("trades", "--env", "live", "-o", "csv"))).ReadAll()
		require.NoError(t, err)
		require.Len(t, none, 1, "the names of the columns")
		assert.Empty(t, r.done("trades", "--env", "live", "-o", "jsonl"))

		r.busy()
		r.done("close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes")
		rows, err := csv.NewReader(strings.NewReader(r.done("trades", "--env", "live", "-o", "csv"))).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2)
		assert.Equal(t, none[0], rows[0])

		var listed []map[string]any
		require.NoError(t, json.Unmarshal([]byte(r.done("trades", "--env", "live", "-o", "json")), &listed))
		require.Len(t, listed, 1)
		assert.Equal(t, listed[0]["netPnL"], rows[1][1], "to the last digit")
		assert.Equal(t, "acc_1", rows[1][5])

		lines := strings.Split(strings.TrimSuffix(r.done("trades", "--env", "live", "-o", "jsonl"), "\n"), "\n")
		require.Len(t, lines, 1)
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &line))
		assert.Equal(t, listed[0]["netPnL"], line["netPnL"])
		assert.Equal(t, rows[1][0], line["date"])
	})
}
