package table

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	f, err := Open(strings.NewReader("\ufeffTime, Price\r\n# a remark\n1767225600, 64000.5\n\"2026-01-01T00:00:01Z\",\n"))
	require.NoError(t, err)
	require.True(t, f.Has("time", "price"))
	require.False(t, f.Has("time", "size"))
	require.NoError(t, f.Next())
	require.Equal(t, int64(1767225600), f.Time("time").Unix())
	require.Equal(t, "64000.5", f.Price("price").String())
	require.NoError(t, f.Err())
	require.NoError(t, f.Next())
	require.Equal(t, int64(1767225601), f.Time("time").Unix())
	f.Price("price")
	f.Fail("time", "and more") // what is wrong first is what counts
	require.EqualError(t, f.Err(), `line 4, column Price: "" is not a number; want a plain one such as -12.50`)
	require.Equal(t, f.Err(), f.Next(), "no line is read behind one that is wrong")
}

// Without columns that a file may leave out its first line is a heading, whatever it begins with. A file of one
// column is a table too.
func TestHeadings(t *testing.T) {
	f, err := Open(strings.NewReader("1m,5m\n3,4\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"1m", "5m"}, f.Names())
	f, err = Open(strings.NewReader("0.0001\n-0.0002\n"), "rate")
	require.NoError(t, err)
	require.NoError(t, f.Next())
	require.Equal(t, "0.0001", f.Number("rate").String())
	require.NoError(t, f.Next())
	f.Fail("", "it is odd")
	require.EqualError(t, f.Err(), "line 2: it is odd")
}

func TestWhatIsNoTable(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "EOF",
		"a,A\n":                         `column "a" is there twice`,
		"1\n":                           `line 1: want "time,price"`,
		strings.Repeat("a", MaxLine+10): "the line is too long",
		"a,b\x00\n":                     "there is a zero byte",
	} {
		_, err := Open(strings.NewReader(text), "time", "price")
		require.ErrorContains(t, err, want)
	}
	f, err := Open(strings.NewReader("1,2\n3\n"), "time", "price")
	require.NoError(t, err)
	require.NoError(t, f.Next())
	require.Equal(t, "2", f.Text("price"))
	require.ErrorContains(t, f.Next(), "wrong number of fields")

	for begin, again := range map[string]string{"a\n": "x", "a\n\"b": "x\n"} { // in a quoted field, lines are one
		endless := Lines(io.MultiReader(strings.NewReader(begin), neverEnds(again)))
		_, err = io.ReadAll(io.LimitReader(endless, 1<<20))
		require.ErrorIs(t, err, ErrLongLine, again)
		_, err = endless.Read(make([]byte, 1))
		require.ErrorIs(t, err, ErrLongLine, "for good")
	}
	remarks := "# it's 5\" long\n" + strings.Repeat("a,b\n", MaxLine)
	text, err := io.ReadAll(Lines(strings.NewReader(remarks)))
	require.NoError(t, err)
	require.Equal(t, remarks, string(text))
}

// neverEnds is a text again and again.
type neverEnds string

func (e neverEnds) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(string(e), len(p)/len(e)))
	return n, nil
}
