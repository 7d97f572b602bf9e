package resolve

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestDates holds what is read of a Date header against package net/http.
func TestDates(t *testing.T) {
	texts := []string{
		"", "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 2 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:05 UTC",
		"Sun, 29 Feb 2004 00:00:00 GMT", "Sun, 29 Feb 2005 00:00:00 GMT", "Sun, 00 Jan 2006 00:00:00 GMT",
		"Sun, 31 Apr 2006 00:00:00 GMT", "Sun, 30 Apr 2006 24:00:00 GMT", "Sun, 30 Apr 2006 23:60:00 GMT",
		"Sun, 30 Apr 2006 23:59:60 GMT", "Sun, 30 Apr 0000 23:59:59 GMT", "onT, 30 Apr 2006 23:59:59 GMT",
		"Sun, 30 prM 2006 23:59:59 GMT", "Sun, 3: Apr 2006 23:59:59 GMT", "Sun, 30 Apr 2006 23:5/:59 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "sun, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT ", "Sun;  06 Nov 1994 08:49:37 GM",
	}
	dice := rand.New(rand.NewPCG(1, 1))
	for range 2_000 {
		at := time.Unix(dice.Int64N(1<<33)-1<<31, 0).UTC().Format(http.TimeFormat)
		texts = append(texts, at)
		if dice.IntN(2) == 0 {
			broken := []byte(at)
			broken[dice.IntN(len(broken))] = byte(dice.IntN(256))
			texts = append(texts, string(broken))
		}
	}
	usual := 0
	for _, text := range texts {
		want, err := http.ParseTime(text)
		got, ok := parseDate(text)
		assert.Equal(t, err == nil, ok, text)
		assert.Equal(t, want, got, text)
		if _, ok := parseUsualDate(text); ok {
			usual++
		}
	}
	assert.Greater(t, usual, 2_000)
}
