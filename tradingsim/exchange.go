package tradingsim

import (
	"context"
	"slices"
	"time"
)

// reply is what comes back over the wire.
type reply struct {
	*answer
	cut      bool // nothing comes back
	truncate bool // half of the body comes back
}

// lateCall is something that happens later without anybody waiting for it.
type lateCall struct {
	due time.Time
	run func()
}

// later schedules what the next look at the simulation will find done: nothing
// outside can distinguish this from work done in time, and no goroutine is left.
func (s *Sim) later(due time.Time, run func()) *lateCall {
	l := &lateCall{due, run}
	i := len(s.late)
	for i > 0 && s.late[i-1].due.After(due) {
		i--
	}
	s.late = slices.Insert(s.late, i, l)
	return l
}

// begin lets a call arrive and takes its fault off the plan.
func (s *Sim) begin(c *call) (*fault, error) {
	s.mu.Lock()
	closed, f := s.closed, s.nextFault(c)
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case f == nil:
		f = s.chosenFault(c)
	}
	if f.refuse {
		s.refused(c, f)
	}
	return f, nil
}

// exchange plays one call with its fault. It never holds the lock while it
// waits; its error is that of the caller's context.
func (s *Sim) exchange(ctx context.Context, c *call, f *fault) (reply, error) {
	way := s.pace.next(c.name) / 2
	left := s.travel(ctx, way)
	s.enter()
	s.arrived(c, f)
	s.count(c)
	a, held := s.play(c, f)
	s.leave()
	if left != nil {
		return s.gaveUp(left)
	}

	if held != nil && !f.gone {
		err := s.clock.wait(ctx, f.hold)
		s.enter()
		if err == nil {
			s.runNow(held)
		}
		s.leave()
		if err != nil {
			return s.gaveUp(err)
		}
		a = c.answer
	}
	if err := s.travel(ctx, f.slow+way); err != nil {
		return s.gaveUp(err)
	}
	if f.mask != nil {
		a = f.mask
	}
	s.mu.Lock()
	if f.cut || f.truncate {
		s.unanswered++
	} else if a.code != "" {
		s.refusals[a.code]++
	}
	if !f.cut {
		c.status, c.answered, c.sent = a.status, s.time(), a
		if c.entry != nil {
			c.entry.Status, c.entry.AnsweredAt = c.status, c.answered
		}
	}
	s.mu.Unlock()
	return reply{answer: a, cut: f.cut, truncate: f.truncate}, nil
}

// count counts a request for the report.
func (s *Sim) count(c *call) {
	if c.operation != nil {
		c.operation.requests++
	} else {
		s.strays++
	}
}

// gaveUp is a call whose caller did not wait for the answer.
func (s *Sim) gaveUp(err error) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered++
	return reply{}, err
}

// play does what happens at once. Where the service works on the call for a
// while, it returns what will end that work.
func (s *Sim) play(c *call, f *fault) (*answer, *lateCall) {
	if f.late > 0 {
		again, meets := c.copy(), noFault // a copy goes well
		if f.lost {
			meets, again.copied = f, false // it is the request itself
		}
		s.later(s.now.Add(f.late), func() { s.arrive(again, meets) })
	}
	switch {
	case f.front != nil:
		return f.front, nil
	case f.lost:
		return nil, nil
	}
	a, held := s.arrive(c, f)
	if f.repeat { // while the first may be at work
		return s.serve(c.copy()), nil
	}
	return a, held
}

// arrive is what the service does with a call. Where it works on the call for a while,
// arrive returns what will end that work.
func (s *Sim) arrive(c *call, f *fault) (*answer, *lateCall) {
	c.instead, c.after, c.crash, c.crashAfter = f.instead, f.after, f.crash, f.crashAfter
	if f.hold == 0 {
		return s.serve(c), nil
	}
	if a := s.admit(c); a != nil {
		return s.finish(c, a), nil
	}
	return nil, s.later(s.now.Add(f.hold), func() { s.finish(c, s.work(c)) })
}

// runNow ends the work on a call, unless it was found done already.
func (s *Sim) runNow(l *lateCall) {
	i := slices.Index(s.late, l)
	if i < 0 {
		return
	}
	s.late = slices.Delete(s.late, i, i+1)
	s.progressTo(l.due)
	l.run()
}
