package resolve

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

func dated(text string) http.Header { return http.Header{"Date": {text}} }

// date has a client know the service's time, which is its own.
func date(d *Driver) {
	d.Clock.HeardDate(dated(time.Now().UTC().Format(http.TimeFormat)), time.Now())
}

// The service's time goes on from its last Date that could be read.
func TestTheServicesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		assert.True(t, c.Now().Service.IsZero())
		said := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		for _, row := range []struct {
			name, date string
			after      time.Duration
			want       time.Time
		}{
			{"none", "", 0, time.Time{}},
			{"no date", "yesterday", 0, time.Time{}},
			{"the first", said.Format(http.TimeFormat), 0, said},
			{"a second later", "", time.Second, said.Add(time.Second)},
			{"of the same second", said.Format(http.TimeFormat), time.Second, said.Add(2 * time.Second)},
			{"another", said.Add(time.Hour).Format(http.TimeFormat), time.Second, said.Add(time.Hour)},
			{"none again", "soon", time.Second, said.Add(time.Hour + time.Second)},
		} {
			time.Sleep(row.after)
			c.HeardDate(dated(row.date), time.Now())
			assert.Equal(t, servicetime.Shown(row.want), c.Now().Service, row.name)
		}
		assert.Equal(t, 4*time.Second, c.Now().Mono)
		assert.Equal(t, time.Second, c.until(5*time.Second))
		assert.Zero(t, c.until(3*time.Second))
	})
}
