package servicetime

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// A time that is not known is neither before nor after another, and no sum makes it known.
func TestATimeThatIsNotKnown(t *testing.T) {
	known, none := Shown(noon), Shown(time.Time{})
	assert.True(t, none.IsZero())
	assert.True(t, none.Add(time.Hour).IsZero())
	assert.Equal(t, "not known", none.String())
	for _, pair := range [][2]Time{{known, none}, {none, known}, {none, none}} {
		assert.False(t, pair[0].Before(pair[1]))
		assert.False(t, pair[0].After(pair[1]))
		_, ok := pair[0].Since(pair[1])
		assert.False(t, ok)
	}
}

func TestTimesOfTheService(t *testing.T) {
	first := Shown(noon)
	later := first.Add(1500 * time.Millisecond)
	assert.True(t, first.Before(later))
	assert.True(t, later.After(first))
	assert.False(t, first.Before(first))
	passed, known := later.Since(first)
	assert.True(t, known)
	assert.Equal(t, 1500*time.Millisecond, passed)
	assert.Equal(t, "2026-01-02T12:00:01.500Z", later.String())
	assert.Equal(t, first, Shown(noon.In(time.FixedZone("", 3600))))

	assert.True(t, Shown(time.Unix(math.MaxInt64/2, 0)).IsZero())
	far := Shown(noon.AddDate(100_000, 0, 0))
	passed, known = far.Since(first)
	assert.True(t, known)
	assert.Positive(t, passed, "it is bounded")
	passed, _ = first.Since(far)
	assert.Negative(t, passed)
}

func TestTimesInJournals(t *testing.T) {
	for _, want := range []Time{{}, Shown(noon), Shown(noon.Add(time.Millisecond)), Shown(noon.AddDate(100_000, 0, 0))} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got Time
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, want, got)
	}
	for _, text := range []string{`"yesterday"`, `1.5`, `9e99`, `4503599627370497`, `{}`} {
		assert.Error(t, json.Unmarshal([]byte(text), new(Time)), text)
	}
}
