package mcp

import "time"

// Moment is a time by two clocks. The wall clock can be set, and the other one cannot: it counts
// since the machine was started.
type Moment struct {
	Wall time.Time     `json:"wall"`
	Up   time.Duration `json:"up"`
	Boot string        `json:"boot"`
}

// since returns how long it is since an earlier moment, at least and at most. What is to expire goes
// by the most, and what is to be released by the least.
func (m Moment) since(earlier Moment) (least, most time.Duration) {
	wall, up := m.Wall.Sub(earlier.Wall), m.Up-earlier.Up
	if m.Boot != earlier.Boot {
		return min(wall, m.Up), max(wall, m.Up)
	}
	return min(wall, up), max(wall, up)
}

// past reports whether a time is over by both clocks.
func (m Moment) past(earlier Moment, d time.Duration) bool {
	least, _ := m.since(earlier)
	return least >= d
}

// systemClock starts the clock of this process.
func systemClock() func() Moment {
	began := time.Now()
	boot, up := bootClock()
	return func() Moment {
		now := time.Now()
		return Moment{Wall: now.Round(0), Up: up + now.Sub(began), Boot: boot}
	}
}

// processClock counts from the start of this process, where that of the machine is not known.
func processClock() (boot string, up time.Duration) { return newID("process_"), 0 }
