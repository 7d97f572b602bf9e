package wire

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readTime(text string) (Time, error) {
	d := NewDecoder([]byte(text))
	v := d.Time()
	return v, d.Finish()
}

func TestTime(t *testing.T) {
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		strconv.FormatInt(noon.UnixMilli(), 10):                noon,
		strconv.Quote(strconv.FormatInt(noon.UnixMilli(), 10)): noon,
		`1.7936e12`:                        time.UnixMilli(1793600000000),
		`0`:                                time.UnixMilli(0),
		`-1`:                               time.UnixMilli(-1),
		`"2026-11-02T12:00:00Z"`:           noon,
		`"2026-11-02T12:00:00.250Z"`:       noon.Add(250 * time.Millisecond),
		`"2026-11-02T14:00:00+02:00"`:      noon,
		`"2026-11-02T12:00:00"`:            noon,
		`"2026-11-02T12:00:00.123456"`:     noon.Add(123456 * time.Microsecond),
		`"2026-11-02 12:00:00"`:            noon,
		`"2026-11-02 12:00:00+00:00"`:      noon,
		`"2026-11-02 12:00:00.5 +0000"`:    noon.Add(500 * time.Millisecond),
		`"2026-11-02T14:00:00+0200"`:       noon,
		`"2026-11-02T14:00:00+02"`:         noon,
		`"2026-11-02T12:00Z"`:              noon,
		`"20261102T120000Z"`:               noon,
		`"2026-11-02"`:                     noon.Truncate(24 * time.Hour),
		`"20261102"`:                       noon.Truncate(24 * time.Hour),
		`"2026-11-02T12:00:00\u002b00:00"`: noon,
	} {
		got, err := readTime(text)
		require.NoError(t, err, text)
		at, ok := got.Get()
		assert.True(t, ok, text)
		assert.True(t, want.Equal(at), "%s: got %s", text, at)
		assert.Equal(t, time.UTC, at.Location(), text)
		assert.Empty(t, got.Raw())
	}
}

// A time stamp that cannot be read costs itself, not the record.
func TestTime_UnreadableIsKept(t *testing.T) {
	for text, raw := range map[string]string{
		`"yesterday"`: "yesterday", `""`: "", `"2026-13-45T00:00:00Z"`: "2026-13-45T00:00:00Z",
		`1793612760000.5`: "1793612760000.5", `1e40`: "1e40", `9223372036854775807`: "9223372036854775807",
		`"12"`: "12", `"` + strings.Repeat("9", 500) + `"`: strings.Repeat("9", 500),
	} {
		got, err := readTime(text)
		require.NoError(t, err, text)
		_, ok := got.Get()
		assert.False(t, ok, text)
		assert.Equal(t, raw, got.Raw())
	}
	for _, text := range []string{`true`, `{}`, `[]`, `null`, `01`, `"`, ``} {
		_, err := readTime(text)
		assert.Error(t, err, text)
	}
}

func TestTimeAt(t *testing.T) {
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.FixedZone("", 3600))
	at, ok := TimeAt(noon).Get()
	assert.True(t, ok)
	assert.True(t, noon.Equal(at))
	_, ok = Time{}.Get()
	assert.False(t, ok)
}

func TestTime_Allocations(t *testing.T) {
	data := []byte(`"2026-11-02T12:00:00.250Z"`)
	d := NewDecoder(data)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		*d = Decoder{input: data, data: data}
		d.Time()
	}))
}

func FuzzTime(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		quoted := string(AppendString(nil, text))
		got, err := readTime(quoted)
		if err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		at, ok := got.Get()
		if ok == (got.Raw() != "") && text != "" {
			t.Fatalf("%s: time %v and raw %q", quoted, at, got.Raw())
		}
		if want, err := time.Parse(time.RFC3339, text); err == nil && ok && !at.Equal(want) {
			t.Fatalf("%s: got %s, want %s", quoted, at, want)
		}
		if ok && (at.Year() < 0 || at.Year() > 9999) {
			t.Fatalf("%s: got year %d", quoted, at.Year())
		}
	})
}
