package tradingsim

import "time"

// Advance moves the service's clock on by d. A clock [WithManualClock] moves by
// this alone, and delays wait for it; any other clock jumps and runs on.
func (s *Sim) Advance(d time.Duration) {
	if d < 0 {
		panic("tradingsim: time does not run backwards")
	}
	if c, ok := s.clock.(*manualClock); ok {
		c.advance(d)
		d = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew += d
	s.advance(s.time())
}

// Now is the service's time.
func (s *Sim) Now() time.Time {
	s.enter()
	defer s.leave()
	return s.now
}

// SetMark sets the mark of a market, "" for none, and makes the market if need
// be. It ends a feed.
func (s *Sim) SetMark(symbol, price string) {
	s.enter()
	defer s.leave()
	s.setMark(s.market(symbol), price)
	s.changedTo(EventPrice, Change{Symbol: symbol, Value: price})
	s.tick()
}

// SetMarket adds a market or describes one anew: what is left out has its
// default again, only the marks go on as they were without a Price.
func (s *Sim) SetMarket(m Market) {
	s.enter()
	defer s.leave()
	s.putMarket(m)
	s.tick()
}

// SetFillError makes fills in a market answer with a code until it is set to "":
// STALE_PRICE or NO_PRICE (closes too), order_rejected, fill_rejected,
// cap_exceeded, or any other refusal of the contract.
func (s *Sim) SetFillError(symbol, code string) {
	if _, ok := statuses[code]; !ok && code != "" {
		panic("tradingsim: the contract has no code " + code)
	}
	s.enter()
	defer s.leave()
	s.market(symbol).fillError = code
	s.tick()
}
