package resolve

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

func dated(at time.Time) http.Header {
	return http.Header{"Date": {at.UTC().Format(http.TimeFormat)}}
}

// date has a client know the service's time, which is its own.
func date(d *Driver) { d.Clocks.Heard(dated(time.Now()), time.Now(), time.Now()) }

// Only what the service says now sets its clock.
func TestWhatSetsTheServicesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{})
		now := time.Now()
		for name, header := range map[string]http.Header{
			"nothing":    {},
			"a cache":    {"Date": dated(now)["Date"], "Age": {"0"}},
			"its memory": {"Date": dated(now)["Date"], "Idempotent-Replayed": {"true"}},
		} {
			d.Clocks.Heard(header, now, now)
			assert.True(t, d.Clocks.Now().Service.IsZero(), name)
		}
		d.Clocks.Heard(dated(now.Add(time.Hour)), now, now)
		assert.Equal(t, servicetime.Shown(now.Add(time.Hour)), d.Clocks.Now().Service)
		time.Sleep(time.Second)
		assert.Equal(t, time.Second, d.Clocks.Now().Mono)
		assert.Equal(t, servicetime.Shown(now.Add(time.Hour+time.Second)), d.Clocks.Now().Service)
	})
}

// D 7: each service has a clock of its own, and the clients of one share it.
func TestEdge07_EachServiceHasItsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		here, again := client(t, &service{}, on(k)), client(t, &service{}, on(k))
		there := client(t, &service{}, on(k), func(c *Config) { c.BaseURL = "there" })
		now := time.Now()
		here.Clocks.Heard(dated(now), now, now)
		there.Clocks.Heard(dated(now.Add(time.Hour)), now, now)
		assert.Equal(t, servicetime.Shown(now), here.Clocks.Now().Service)
		assert.Equal(t, servicetime.Shown(now), again.Clocks.Now().Service)
		assert.Equal(t, servicetime.Shown(now.Add(time.Hour)), there.Clocks.Now().Service)
	})
}

// The first use of a key has the service's time only where that is known.
func TestWhenAKeyWasUsedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{})
		noted := servicetime.Shown(time.Now().Add(time.Hour))
		began := time.Now()
		write := func(left, known bool) *OpenWrite {
			return newWrite(d, "w", order, func(w *OpenWrite) {
				notBefore := began.Add(-time.Minute)
				w.Intent.Decided, w.Left, w.NotBefore = began, left, notBefore
				w.Ledger.FirstUseKnown, w.Ledger.NotBefore = known, !known
				w.Ledger.Decided, w.Ledger.Since = ledger.Instant{Wall: began, Service: noted}, noted.Add(-time.Minute)
			})
		}
		first := func(left, known bool) servicetime.Time { return d.Clocks.firstUse(write(left, known)) }
		assert.True(t, first(false, true).IsZero(), "this machine's clock does not stand for it")
		assert.True(t, first(false, false).IsZero())
		assert.Equal(t, noted, first(true, true), "the journal has it")
		assert.Equal(t, noted.Add(-time.Minute), first(true, false))
		time.Sleep(time.Second)
		d.Clocks.Heard(dated(began.Add(10*time.Second)), time.Now(), time.Now())
		assert.Equal(t, servicetime.Shown(began.Add(9*time.Second)), first(false, true))
		assert.Equal(t, servicetime.Shown(began.Add(9*time.Second-time.Minute)), first(false, false))
		d.Clocks.Heard(dated(began), time.Now(), time.Now())
		for _, known := range []bool{true, false} {
			assert.True(t, first(false, known).IsZero(), "the service contradicts itself")
			assert.True(t, first(true, known).IsZero())
		}
	})
}

// What passed since the last write of an earlier run is by the service's clock, and less than it
// may be by all that this may be off.
func TestHowLongAgoTheRunBeforeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := new(servicetime.Clock)
		now := time.Now()
		before := &last{Ended: ledger.Instant{Wall: now, Service: servicetime.Shown(now)}, Still: []pending.AccountID{"acc_1"}}
		e := Clocks{service: service}.earlier(false, before)
		assert.Equal(t, []pending.AccountID{"acc_1"}, e.Still)
		_, known := e.Since(now)
		assert.False(t, known)
		service.Hear(now.Add(time.Minute).UTC().Format(http.TimeFormat), now, now)
		passed, known := e.Since(now)
		assert.True(t, known)
		assert.Equal(t, time.Minute-2*servicetime.Tolerance, passed)
		before.Ended.Service = servicetime.Time{}
		assert.Nil(t, Clocks{service: service}.earlier(false, before).Since)
		assert.True(t, Clocks{service: service}.earlier(true, nil).None)
	})
}
