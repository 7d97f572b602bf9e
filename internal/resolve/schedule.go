package resolve

import (
	"context"
	"slices"
	"sync"
	"time"
)

// schedule says whose turn it is. One goroutine works on writes, one at a time: those that are due, of them the
// ones that hold a market closed, of them those that cannot wait, of them those that somebody waits for, of them
// the oldest. It runs from the first write that has a turn until there is none.
type schedule struct {
	life       *Life
	background bool // writes have turns although nobody waits for them

	// work is a turn. It removes a write that is over. Of others it says when the next turn is, or that there
	// is none until somebody asks, and that nobody waits for it any more although it goes on.
	work      func(*OpenWrite) (due time.Time, idle, stuck bool)
	notBefore func() time.Time
	rest      func() // called when there is nothing to do, and the goroutine ends

	mu      sync.Mutex
	jobs    map[*OpenWrite]*job
	wake    chan struct{} // something has changed
	running bool
}

// job is where the work on a write stands.
type job struct {
	due     time.Time
	waiting int           // callers
	asked   uint64        // the number of the last request about it
	idle    bool          // it has no turn until somebody asks
	stuck   bool          // nobody waits for it
	changed chan struct{} // closed while it is idle or stuck, and when it is over
	busy    bool          // the goroutine is at it
	held    bool          // by hold: it has no turn meanwhile
	free    chan struct{} // closed when it is neither; nil where nobody waits
}

// add adds a job that is due; one that is there already keeps its place.
func (s *schedule) add(of *OpenWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[of] == nil {
		s.jobs[of] = &job{changed: make(chan struct{})}
	}
	s.start()
}

// start runs the goroutine if there is work. The lock is held.
func (s *schedule) start() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
	if s.running {
		return
	}
	if _, next := s.next(); next != nil {
		s.running = s.life.Go(s.run)
	}
}

// requested notes the number of a request about a job.
func (s *schedule) requested(of *OpenWrite, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		j.asked = number
	}
}

// ask gives an idle or stuck job a turn. asked is the number of the last request when the caller
// began: one that came after it, such as the first after the journal was loaded, is the
// caller's, and is not repeated. again is called before the turn.
func (s *schedule) ask(of *OpenWrite, asked uint64, again func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[of]
	if j == nil {
		return
	}
	if j.rests() && !j.busy && j.asked <= asked {
		again()
		j.idle, j.stuck, j.due, j.changed = false, false, time.Time{}, make(chan struct{})
	}
	s.start()
}

// wait waits until a job is over or idle, and returns the error of what ended the wait
// before that: the context, or closing. For a job that is not there it does not wait.
func (s *schedule) wait(ctx context.Context, of *OpenWrite) (ended error) {
	s.mu.Lock()
	j := s.jobs[of]
	switch {
	case j == nil:
		s.mu.Unlock()
		return nil
	case ctx.Err() != nil: // nobody waits, so nothing is done on their account
		s.mu.Unlock()
		return context.Cause(ctx)
	}
	j.waiting++
	changed := j.changed
	s.start()
	s.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-s.life.Closing.Done():
		ended = ErrClosed
	}
	s.mu.Lock()
	j.waiting--
	s.mu.Unlock()
	return ended
}

// hurry makes a job due.
func (s *schedule) hurry(of *OpenWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		j.due = time.Time{}
		s.start()
	}
}

// goOn makes a job due, also one that rests.
func (s *schedule) goOn(of *OpenWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[of]
	if j == nil {
		return
	}
	if j.rests() {
		j.idle, j.stuck, j.changed = false, false, make(chan struct{})
	}
	j.due = time.Time{}
	s.start()
}

// has reports whether a job is there, and whether it is idle.
func (s *schedule) has(of *OpenWrite) (found, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[of]
	return j != nil, j != nil && j.idle
}

// hold keeps a job from having turns until release, once the turn that it may be having is
// over: it waits for that as long as the context lasts. Of a job that is not there nothing is kept: its write
// has ended, or nobody works on it.
func (s *schedule) hold(ctx context.Context, of *OpenWrite) (release func(), there bool, err error) {
	for {
		s.mu.Lock()
		j := s.jobs[of]
		if j == nil {
			s.mu.Unlock()
			return func() {}, false, nil
		}
		if !j.busy && !j.held {
			j.held = true
			s.mu.Unlock()
			return func() { s.release(j) }, true, nil
		}
		if j.free == nil {
			j.free = make(chan struct{})
		}
		free := j.free
		s.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

func (s *schedule) release(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.held = false
	j.letGo()
	s.start()
}

// letGo lets those go on who wait for a job. The lock is held.
func (j *job) letGo() {
	if j.free != nil {
		close(j.free)
		j.free = nil
	}
}

// remove takes a job out that is over.
func (s *schedule) remove(of *OpenWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		if !j.rests() {
			close(j.changed)
		}
		delete(s.jobs, of)
	}
}

// all returns all jobs, the oldest first.
func (s *schedule) all() []*OpenWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]*OpenWrite, 0, len(s.jobs))
	for of := range s.jobs {
		jobs = append(jobs, of)
	}
	slices.SortFunc(jobs, byDecision)
	return jobs
}

// next returns the job whose turn it is; nil if there is none. The lock is held.
func (s *schedule) next() (first *OpenWrite, best *job) {
	now := time.Now()
	for of, j := range s.jobs {
		if j.idle || j.held || !s.background && j.waiting == 0 {
			continue
		}
		if best == nil || s.before(now, of, j, first, best) {
			first, best = of, j
		}
	}
	return first, best
}

func (s *schedule) before(now time.Time, a *OpenWrite, aAt *job, b *OpenWrite, bAt *job) bool {
	aDue, bDue := !aAt.due.After(now), !bAt.due.After(now)
	switch {
	case aDue != bDue:
		return aDue
	case !aDue:
		return aAt.due.Before(bAt.due)
	case a.marketOpen.Load() != b.marketOpen.Load():
		return b.marketOpen.Load()
	case isYoung(a) != isYoung(b):
		return isYoung(a)
	case (aAt.waiting > 0) != (bAt.waiting > 0):
		return aAt.waiting > 0
	default:
		return byDecision(a, b) < 0
	}
}

// run works until there is nothing to do, or closing begins.
func (s *schedule) run() {
	for {
		s.mu.Lock()
		of, j := s.next()
		if j == nil || s.life.Closing.Err() != nil {
			s.running = false
			s.rest()
			s.mu.Unlock()
			return
		}
		due := j.due
		if hold := s.notBefore(); hold.After(due) {
			due = hold
		}
		wait := time.Until(due)
		j.busy = wait <= 0
		s.mu.Unlock()
		if wait > 0 {
			s.sleep(wait)
			continue
		}
		s.take(of, j)
	}
}

// sleep waits, or until something has changed.
func (s *schedule) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-s.life.Closing.Done():
	}
}

// take is one turn of a job.
func (s *schedule) take(of *OpenWrite, j *job) {
	due, idle, stuck := s.work(of)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer j.letGo()
	j.busy = false
	if s.jobs[of] != j {
		return // it is over
	}
	rested := j.rests()
	switch j.due, j.idle, j.stuck = due, idle, stuck; {
	case j.rests() && !rested:
		close(j.changed)
	case rested && !j.rests():
		j.changed = make(chan struct{})
	}
}

// rests reports whether nobody waits for the job.
func (j *job) rests() bool { return j.idle || j.stuck }
