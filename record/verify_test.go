package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerifyWhatWasWritten(t *testing.T) {
	path, contents := written(t, 0)
	require.Len(t, contents, 1)
	report, err := verify(contents...)
	require.NoError(t, err)
	assert.Equal(t, 15, report.Lines, "segment, opened, three orders of four lines, closed")
	assert.Equal(t, uint64(1), report.First)
	assert.Equal(t, uint64(15), report.Last)
	assert.Equal(t, noHash, report.Prev)
	assert.True(t, report.Closed)
	assert.Zero(t, report.Lost)

	byName, err := VerifyFile(path)
	require.NoError(t, err)
	assert.Equal(t, report, byName)

	var events []Event
	for e, err := range Events(bytes.NewReader(contents[0])) {
		require.NoError(t, err)
		events = append(events, e)
	}
	assert.Len(t, events, 15)
	for e, err := range Events(bytes.NewReader(contents[0])) {
		require.NoError(t, err)
		assert.Equal(t, KindSegment, e.Kind)
		break
	}
}

// The format is checked by hand, as a program in another language would.
func TestTheFormatIsAsDocumented(t *testing.T) {
	_, contents := written(t, 0)
	prev := strings.Repeat("0", 64)
	for i, line := range lines(contents[0]) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		m := parse(t, line)
		head := fmt.Sprintf(`{"hash":%q,`, m["hash"])
		require.True(t, bytes.HasPrefix(line, []byte(head)))
		sum := sha256.Sum256(line[len(head):])
		require.Equal(t, hex.EncodeToString(sum[:]), m["hash"], "line %d", i+1)
		require.Equal(t, prev, m["prev"], "line %d", i+1)
		require.True(t, bytes.HasPrefix(line[len(head):], []byte(`"prev":"`)))
		prev = m["hash"].(string)
	}
}

// An audit that the first version has written is right for every later one: its
// files outlive the programs that have written them.
func TestStableFormat(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "audit.v1.jsonl"))
	require.NoError(t, err)
	report, err := Verify(bytes.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, 12, report.Lines)
	assert.Equal(t, 3, report.Lost)

	// Each event is also written as it was then.
	var enc encoder
	prev := noHash
	var again []byte
	for e, err := range Events(bytes.NewReader(text)) {
		require.NoError(t, err)
		line, hash, err := enc.line(prev, &e)
		require.NoError(t, err)
		again = append(again, line...)
		prev = hash
	}
	assert.Equal(t, string(text), string(again))
}

// Each byte of each line is covered: any change of one is found, and at its line. What
// a change of the last newline leaves looks as if it was torn.
func TestAnyChangedByteShows(t *testing.T) {
	_, contents := written(t, 0, "BTC")
	text := contents[0]
	for at := range text {
		changed := bytes.Clone(text)
		changed[at] ^= 1
		_, err := verify(changed)
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		if torn := (*TornError)(nil); at == len(text)-1 {
			require.ErrorAs(t, err, &torn)
			continue
		}
		tampered := (*TamperedError)(nil)
		require.ErrorAs(t, err, &tampered, "byte %d, in line %d", at, line)
		require.Equal(t, line, tampered.Line, "byte %d: %v", at, err)
	}
}

func TestTampering(t *testing.T) {
	_, contents := written(t, 0)
	all := lines(contents[0])
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	// forged is a line that is right in itself, in the place of another.
	forged := func(at int, change func(*chained)) []byte {
		c, _, err := parseLine(bytes.TrimSpace(all[at]))
		require.NoError(t, err)
		change(&c)
		var enc encoder
		line, _, err := enc.line(c.Prev, &c.Event)
		require.NoError(t, err)
		return bytes.Clone(line)
	}
	swapped := slices.Clone(all)
	swapped[4], swapped[5] = swapped[5], swapped[4]

	for name, row := range map[string]struct {
		text []byte
		line int
	}{
		"the first line is gone":    {join(all[1:]...), 1},
		"the first lines are gone":  {join(all[5:]...), 1},
		"a line in the middle gone": {join(slices.Delete(slices.Clone(all), 6, 7)...), 7},
		"lines in the middle gone":  {join(slices.Delete(slices.Clone(all), 2, 9)...), 3},
		"two in another order":      {join(swapped...), 5},
		"one twice":                 {join(slices.Insert(slices.Clone(all), 6, all[5])...), 7},
		"an empty line":             {join(slices.Insert(slices.Clone(all), 6, []byte("\n"))...), 7},
		"something else":            {join(slices.Insert(slices.Clone(all), 6, []byte("{}\n"))...), 7},
		"a line made right in itself shows in the next": {join(slices.Replace(slices.Clone(all), 6, 7,
			forged(6, func(c *chained) { c.Symbol = "DOGE" }))...), 8},
		"a number that was changed, and made right": {join(slices.Replace(slices.Clone(all), 6, 7,
			forged(6, func(c *chained) { c.Seq++ }))...), 7},
		"a beginning that is none": {join(slices.Replace(slices.Clone(all), 0, 1,
			forged(0, func(c *chained) { c.Prev = strings.Repeat("1", 64) }))...), 1},
		"nothing at all": {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verify(row.text)
			tampered := (*TamperedError)(nil)
			require.ErrorAs(t, err, &tampered)
			assert.Equal(t, row.line, tampered.Line, err.Error())
		})
	}
}

// What a chain cannot tell by itself, a head that was kept elsewhere does.
func TestLinesMissingAtTheEndShowAgainstAHead(t *testing.T) {
	_, contents := written(t, 0)
	whole, err := verify(contents...)
	require.NoError(t, err)
	all := lines(contents[0])
	cut, err := verify(bytes.Join(all[:len(all)-3], nil))
	require.NoError(t, err, "the chain is right up to there")
	assert.False(t, cut.Closed, "though nobody has closed it")
	assert.NotEqual(t, whole.Head, cut.Head)
	assert.Equal(t, whole.Last-3, cut.Last)
}

func TestVerifyAcrossFiles(t *testing.T) {
	_, contents := written(t, 2000)
	require.Greater(t, len(contents), 3)
	whole, err := verify(contents...)
	require.NoError(t, err)
	assert.Equal(t, len(contents), whole.Files)
	for i, text := range contents {
		if i < len(contents)-1 {
			assert.LessOrEqual(t, len(text), 2000)
		}
	}

	later, err := verify(contents[2:]...)
	require.NoError(t, err, "old files may have been moved away")
	assert.NotEqual(t, noHash, later.Prev)
	assert.Equal(t, whole.Head, later.Head)

	tampered := (*TamperedError)(nil)
	_, err = verify(slices.Delete(slices.Clone(contents), 1, 2)...)
	require.ErrorAs(t, err, &tampered, "a file in the middle is missing")
	assert.Equal(t, 2, tampered.File)
	assert.Equal(t, 1, tampered.Line)

	swapped := slices.Clone(contents)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	_, err = verify(swapped...)
	require.ErrorAs(t, err, &tampered, "two are in another order")
	assert.Equal(t, 2, tampered.File)

	emptied := slices.Clone(contents)
	emptied[1] = nil
	_, err = verify(emptied...)
	require.ErrorAs(t, err, &tampered, "one was emptied")
	assert.Equal(t, 2, tampered.File)

	cut := slices.Clone(contents)
	all := lines(cut[1])
	cut[1] = bytes.Join(all[:len(all)-1], nil)
	_, err = verify(cut...)
	require.ErrorAs(t, err, &tampered, "the end of one is missing")
	assert.Equal(t, 3, tampered.File)

	torn := slices.Clone(contents)
	torn[1] = append(bytes.Clone(torn[1]), "{"...)
	_, err = verify(torn...)
	require.ErrorAs(t, err, &tampered, "a torn line that the next file does not know")
	assert.Equal(t, 3, tampered.File)

	_, err = verify(append(slices.Clone(contents), nil)...)
	require.NoError(t, err, "the last one can be empty: a process died when it had made it")
}

// A line that is larger than a file may be has one of its own, behind its first line.
func TestAFileHasMoreThanItsFirstLine(t *testing.T) {
	_, contents := written(t, 1)
	for _, text := range contents {
		assert.Len(t, lines(text), 2)
	}
	_, err := verify(contents...)
	require.NoError(t, err)
}

func TestVerifyOfANewerFormat(t *testing.T) {
	var enc encoder
	line, _, err := enc.line(noHash, &Event{Seq: 1, Kind: KindSegment, Format: format + 1})
	require.NoError(t, err)
	_, err = verify(line)
	newer := (*FormatError)(nil)
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, FormatError{Format: format + 1, Known: format}, *newer)
	require.EqualError(t, newer, fmt.Sprintf("record: the audit has format %d, and this version knows %d at most", format+1, format))
}

func TestVerifyOfAReaderThatFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := Verify(readerFunc(func([]byte) (int, error) { return 0, broken }))
	require.ErrorIs(t, err, broken)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// What no program writes is neither read into memory nor taken for a torn line, if it
// has an end.
func TestALineWithoutMeasure(t *testing.T) {
	const limit, size = 200_000, 1_000_000
	text := bytes.Repeat([]byte("x"), size)
	line, tail, err := readLine(bufio.NewReader(bytes.NewReader(text)), limit)
	require.NoError(t, err)
	require.Nil(t, line)
	assert.Equal(t, tornOf(text), tail)

	_, _, err = readLine(bufio.NewReader(bytes.NewReader(append(text, '\n'))), limit)
	require.ErrorIs(t, err, errLongLine)

	line, tail, err = readLine(bufio.NewReader(bytes.NewReader(append(text[:limit-1:limit-1], '\n'))), limit)
	require.NoError(t, err)
	require.Nil(t, tail)
	assert.Equal(t, text[:limit-1], line)
}

func TestNoAudit(t *testing.T) {
	_, err := VerifyFile(filepath.Join(t.TempDir(), "audit.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFilesAreFound(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a.jsonl", "a.jsonl.000000000001", "a.jsonl.000000000010", "a.jsonl.000000000009", "a.jsonl.1000000000000",
		"a.jsonl.lock", "a.jsonl.1", "a.jsonl.00000000000x", "a.jsonl.0000000000001", "b.jsonl.000000000002",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	names, err := Files(filepath.Join(dir, "a.jsonl"))
	require.NoError(t, err)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	assert.Equal(t, []string{"a.jsonl.000000000001", "a.jsonl.000000000009", "a.jsonl.000000000010", "a.jsonl.1000000000000", "a.jsonl"}, names)
}
