package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read reads all lines of a file, and each field as each thing that it can be.
func read(t *testing.T, file []byte, bare ...string) (names []string, rows [][]string, err error) {
	f, err := Open(bytes.NewReader(file), bare...)
	if err != nil {
		return nil, nil, err
	}
	last := 0
	for err = f.Next(); err == nil; err = f.Next() {
		line, column, written := f.Place("none of them")
		require.Greater(t, line, last)
		require.Zero(t, column)
		require.Empty(t, written)
		require.Empty(t, f.Text("none of them"))
		last = line
		var row []string
		for i, name := range f.Names() {
			name = strings.ToLower(strings.TrimSpace(name))
			require.True(t, f.Has(name))
			_, _, written := f.Place(name)
			require.Equal(t, f.Names()[i], written)
			row = append(row, f.Text(name))
		}
		rows = append(rows, row)
	}
	return f.Names(), rows, err
}

// A file that is read whole is read as the same once it is written again, and what a field is taken for is
// what it says.
func FuzzTable(f *testing.F) {
	for _, file := range []string{
		"time,price\n1767225600,64000.5\n", "\ufeffTime, Price\r\n# a remark\n2026-01-01T00:00:00Z,\r\n", "1767225600000,1\n", "a,A\n", "\"a\nb\",c\n1,2\n", "a\n\x00\n",
	} {
		f.Add([]byte(file), true)
		f.Add([]byte(file), false)
	}
	f.Fuzz(func(t *testing.T, file []byte, withBare bool) {
		var bare []string
		if withBare {
			bare = []string{"time", "price"}
		}
		names, rows, err := read(t, file, bare...)
		if !errors.Is(err, io.EOF) || len(names) < 2 { // of one column, an empty field is written as an empty line
			return
		}
		var again bytes.Buffer
		w := csv.NewWriter(&again)
		require.NoError(t, w.WriteAll(append([][]string{names}, rows...)))
		if bytes.HasPrefix(again.Bytes(), []byte("#")) || bytes.Contains(again.Bytes(), []byte("\n#")) {
			return // what was quoted is a remark now
		}
		_, same, err := read(t, again.Bytes())
		require.ErrorIs(t, err, io.EOF, "%q", again.String())
		require.Equal(t, rows, same)

		values, err := Open(bytes.NewReader(file), bare...)
		require.NoError(t, err)
		for values.Next() == nil {
			for name := range values.columns {
				line := *values
				if at := line.Time(name); line.Err() == nil {
					require.False(t, at.Year() < firstYear || at.Year() > lastYear, "%s", at)
				}
				line = *values
				if price := line.Price(name); line.Err() == nil {
					require.True(t, price.IsPositive())
					require.LessOrEqual(t, len(line.Text(name)), mostDigits)
				} else {
					bad := (*LineError)(nil)
					require.ErrorAs(t, line.Err(), &bad)
					require.Positive(t, bad.Line)
					require.Positive(t, bad.Column)
				}
			}
		}
	})
}
