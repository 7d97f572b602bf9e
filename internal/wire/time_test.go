package wire

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

func readTime(text string) (Timestamp, error) {
	d := NewDecoder([]byte(text))
	v := d.Time()
	return v, d.Finish()
}

func TestTime(t *testing.T) {
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		strconv.FormatInt(noon.UnixMilli(), 10):                noon,
		strconv.Quote(strconv.FormatInt(noon.UnixMilli(), 10)): noon,
		strconv.FormatInt(noon.Unix(), 10):                     noon,
		strconv.Quote(strconv.FormatInt(noon.Unix(), 10)):      noon,
		strconv.FormatInt(noon.UnixMicro(), 10):                noon,
		strconv.FormatInt(noon.UnixNano()+7, 10):               noon.Add(7),
		`1.7936e12`:                                            time.UnixMilli(1793600000000),
		`0`:                                                    time.UnixMilli(0),
		`-1`:                                                   time.UnixMilli(-1),
		`"2026-11-02T12:00:00Z"`:                               noon,
		`"2026-11-02T12:00:00.250Z"`:                           noon.Add(250 * time.Millisecond),
		`"2026-11-02T14:00:00+02:00"`:                          noon,
		`"2026-11-02T12:00:00"`:                                noon,
		`"2026-11-02T12:00:00.123456"`:                         noon.Add(123456 * time.Microsecond),
		`"2026-11-02 12:00:00"`:                                noon,
		`"2026-11-02 12:00:00+00:00"`:                          noon,
		`"2026-11-02 12:00:00.5 +0000"`:                        noon.Add(500 * time.Millisecond),
		`"2026-11-02T14:00:00+0200"`:                           noon,
		`"2026-11-02T14:00:00+02"`:                             noon,
		`"2026-11-02T12:00Z"`:                                  noon,
		`"20261102T120000Z"`:                                   noon,
		`"2026-11-02"`:                                         noon.Truncate(24 * time.Hour),
		`"20261102"`:                                           noon.Truncate(24 * time.Hour),
		`"2026-11-02T12:00:00\u002b00:00"`:                     noon,
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

func TestATimestampWithoutATime(t *testing.T) {
	_, ok := Timestamp{}.Get()
	assert.False(t, ok)
}

// Each day of the calendar, and what is none.
func TestParseTime(t *testing.T) {
	step := 1 // each day of the 400 years after which the calendar repeats
	for day := time.Date(0, 1, 1, 23, 59, 58, 7, time.UTC); day.Year() < 10_000; day = day.AddDate(0, 0, step) {
		if day.Year() > 400 {
			step = 13
		}
		text := day.Format("2006-01-02T15:04:05.000000000Z")
		got, ok := parseTime([]byte(text)).Get()
		if !ok || !got.Equal(day) || got.Location() != time.UTC {
			t.Fatalf("%s: got %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{
		"2026-11-02T10:00:00.Z", "2026-11-02T10:00:00+Z", "2026-11-02T10:00:00.5+Z", "2026-00-02T10:00:00Z", "2026-13-02T10:00:00Z",
		"2026-11-00T10:00:00Z", "2026-11-31T10:00:00Z", "2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z", "2026-12-32T10:00:00Z",
		"2026-11-02T24:00:00Z", "2026-11-02T10:60:00Z", "2026-11-02T10:00:60Z", "99/9-11-02T10:00:00Z", "/099-11-02T10:00:00Z",
		"20:6-11-02T10:00:00Z", "2026-1a-02T10:00:00Z", "2026-11-0:T10:00:00Z", "Z", "",
	} {
		_, ok := parseTime([]byte(text)).Get()
		assert.False(t, ok, text)
	}
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
		require.NoError(t, err, quoted)
		at, ok := got.Get()
		require.True(t, text == "" || ok == (got.Raw() == ""), "%s: time %v and raw %q", quoted, at, got.Raw())
		want, err := time.Parse(time.RFC3339, text)
		if err == nil && ok {
			require.True(t, at.Equal(want), "%s: got %s, want %s", quoted, at, want)
		}
		require.False(t, ok && (at.Year() < 0 || at.Year() > 9999), "%s: got year %d", quoted, at.Year())
	})
}

// Ages are what math/big makes of them, bounded by a day, and keep the part of a unit.
func FuzzDuration(f *testing.F) {
	jsontext.Add[string](f, 500, jsontext.Number)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseDecimal([]byte(text))
		if err != nil {
			t.Skip("no number")
		}
		for _, unit := range []time.Duration{time.Millisecond, time.Second} {
			exact := new(big.Rat).Mul(n.Rat(), big.NewRat(int64(unit), 1))
			whole := new(big.Int).Quo(exact.Num(), exact.Denom())
			day := big.NewInt(int64(24 * time.Hour))
			if whole.CmpAbs(day) > 0 {
				whole.Mul(day, big.NewInt(int64(n.Sign())))
			}
			require.Equal(t, whole.Int64(), int64(Duration(n, unit)), "%s of %s", text, unit)
		}
	})
}
