package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

func TestOptionsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"Options.Name must not be empty":               func(o *Options) { o.Name = "" },
		"Options.Accounts must name":                   func(o *Options) { o.Accounts = nil },
		"Options.Accounts must name the accounts":      func(o *Options) { o.Accounts = []string{"acc_1", ""} },
		"Options.Lease is 100ms":                       func(o *Options) { o.Lease = 100 * time.Millisecond },
		"Options.Alive is -1s":                         func(o *Options) { o.Alive = -time.Second },
		`Options.BaseURL: "" is no URL`:                func(o *Options) { o.BaseURL = "" },
		`Options.BaseURL: "ftp://x" is no URL`:         func(o *Options) { o.BaseURL = "ftp://x" },
		"Options.BaseURL: it cannot be parsed":         func(o *Options) { o.BaseURL = "https://user:secret@x:y/v1" },
		`Options.BaseURL: "xy://user:xxxxx@x" is no U`: func(o *Options) { o.BaseURL = "xy://user:secret@x" },
	} {
		o := options()
		change(&o)
		_, err := Open(t.Context(), "postgres://nowhere.invalid", o)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
	_, err := Open(t.Context(), "postgres://user:secret@[", options())
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
}

// What is not set has its default, and the order of accounts makes no difference.
func TestOptionsThatAreNotSet(t *testing.T) {
	one, err := Options{Name: "x", BaseURL: "https://SERVICE.example:443/v1/", Accounts: []string{"b", "a", "b"}}.checked()
	require.NoError(t, err)
	other, err := Options{Name: "y", BaseURL: service, Accounts: []string{"a", "b"}}.checked()
	require.NoError(t, err)
	assert.Equal(t, other.digest(), one.digest())
	assert.Equal(t, 13*time.Second, one.sends())
	other.Declares = "more"
	assert.NotEqual(t, other.digest(), one.digest())
}

// A bot that reports keeps its lease, and one that has stopped to loses it.
func TestABotThatReports(t *testing.T) {
	t.Parallel()
	o := options()
	o.Lease = 3 * time.Second
	o.Alive = o.Lease / 2
	s := opened(t, address(t), o)
	for began := time.Now(); time.Since(began) < 2*o.Lease; time.Sleep(o.Lease / 20) {
		s.Alive()
		require.Positive(t, time.Until(s.Deadline()))
	}
	require.Eventually(t, func() bool { return time.Until(s.Deadline()) < 0 }, patience, time.Millisecond)
}

// What one call appends is bounded; of a store that is closed nobody notes that it lacks something.
func TestBounds(t *testing.T) {
	o := options()
	o.Lease = 20 * time.Second // for which an append is waited for
	s := opened(t, address(t), o)
	require.ErrorIs(t, s.Append(t.Context(), true, journal.Record{Intent: "x", Data: make([]byte, mostBytes)}), journal.ErrInvalid)
	require.NoError(t, s.Append(t.Context(), true, journal.Record{Intent: "x", Data: make([]byte, mostBytes-1000)}))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.SetGap(true), journal.ErrClosed)
}
