// Package schedule says whose turn it is. One goroutine works on jobs, one at a time:
// those that are due, of them the ones that cannot wait, of them those that somebody waits
// for, of them the oldest. It knows nothing of what a job is.
package schedule

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Turn is what the turn of a job came to.
type Turn struct {
	// Due is when the next turn is.
	Due time.Time
	// Idle means that the job has no turn until somebody asks for one.
	Idle bool
	// Stuck means that nobody waits for the job any more, which goes on.
	Stuck bool
	// Done means that the job is over.
	Done bool
}

// Config is what a schedule is made of.
type Config[J comparable] struct {
	// Closing ends when no turn begins any more. ErrClosed is the error of those who wait
	// then.
	Closing   context.Context
	ErrClosed error
	// Background means that jobs have turns although nobody waits for them.
	Background bool
	// First are the jobs that go before all others.
	First func(j J) bool
	// Compare orders jobs, the oldest first.
	Compare func(a, b J) int
	// Work is one turn. Ended is called after the last one.
	Work  func(j J) Turn
	Ended func(j J)
	// NotBefore is a moment before which no turn is; zero for none.
	NotBefore func() time.Time
	// Rest is called when there is no job for the goroutine, which ends.
	Rest func()
	// Enter and Leave frame the life of the goroutine. Enter may refuse it.
	Enter func() bool
	Leave func()
}

// Schedule is the schedule of one goroutine. It runs from the first job that has a turn
// until there is none.
type Schedule[J comparable] struct {
	Config[J]

	mu      sync.Mutex
	jobs    map[J]*job
	wake    chan struct{} // something has changed
	running bool
	closed  bool
}

// job is where a job stands.
type job struct {
	due     time.Time
	waiting int           // callers
	asked   uint64        // the number of the last request about it
	idle    bool          // it has no turn until somebody asks
	stuck   bool          // nobody waits for it
	changed chan struct{} // closed while it is idle or stuck, and when it is over
	busy    bool          // the goroutine is at it
	held    bool          // it has no turn meanwhile
	free    chan struct{} // closed when it is neither; nil where nobody waits
}

// New returns a schedule without jobs.
func New[J comparable](c Config[J]) *Schedule[J] {
	return &Schedule[J]{Config: c, jobs: make(map[J]*job), wake: make(chan struct{}, 1)}
}

// Add adds a job that is due; one that is there already keeps its place.
func (s *Schedule[J]) Add(of J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[of] == nil {
		s.jobs[of] = &job{changed: make(chan struct{})}
	}
	s.start()
}

// start runs the goroutine if there is work. The lock is held.
func (s *Schedule[J]) start() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
	if s.running || s.closed {
		return
	}
	if _, next := s.next(); next == nil || !s.Enter() {
		return
	}
	s.running = true
	go func() {
		defer s.Leave()
		s.run()
	}()
}

// Requested notes the number of a request about a job.
func (s *Schedule[J]) Requested(of J, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		j.asked = number
	}
}

// Ask gives an idle or stuck job a turn. since is the number of the last request when the caller
// began: one that came after it, such as the first after the journal was loaded, is the
// caller's, and is not repeated. again is called before the turn.
func (s *Schedule[J]) Ask(of J, since uint64, again func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[of]
	if j == nil {
		return
	}
	if j.rests() && !j.busy && j.asked <= since {
		again()
		j.idle, j.stuck, j.due, j.changed = false, false, time.Time{}, make(chan struct{})
	}
	s.start()
}

// Wait waits until a job is over or idle, and returns the error of what ended the wait
// before that: the context, or closing. For a job that is not there it does not wait.
func (s *Schedule[J]) Wait(ctx context.Context, of J) (ended error) {
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
	case <-s.Closing.Done():
		ended = s.ErrClosed
	}
	s.mu.Lock()
	j.waiting--
	s.mu.Unlock()
	return ended
}

// Hurry makes a job due.
func (s *Schedule[J]) Hurry(of J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		j.due = time.Time{}
		s.start()
	}
}

// Has reports whether a job is there, and whether it is idle.
func (s *Schedule[J]) Has(of J) (found, idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[of]
	return j != nil, j != nil && j.idle
}

// Hold keeps a job from having turns until release, once the turn that it may be having is
// over: it waits for that as long as the context lasts. held is false for a job that is not
// there.
func (s *Schedule[J]) Hold(ctx context.Context, of J) (release func(), held bool, err error) {
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

func (s *Schedule[J]) release(j *job) {
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

// Remove takes a job out that is over.
func (s *Schedule[J]) Remove(of J) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[of]; j != nil {
		if !j.rests() {
			close(j.changed)
		}
		delete(s.jobs, of)
	}
}

// Jobs returns all jobs, the oldest first.
func (s *Schedule[J]) Jobs() []J {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]J, 0, len(s.jobs))
	for of := range s.jobs {
		jobs = append(jobs, of)
	}
	slices.SortFunc(jobs, s.Compare)
	return jobs
}

// Close has no goroutine begin any more.
func (s *Schedule[J]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// next returns the job whose turn it is; nil if there is none. The lock is held.
func (s *Schedule[J]) next() (first J, best *job) {
	now := time.Now()
	for of, j := range s.jobs {
		if j.idle || j.held || !s.Background && j.waiting == 0 {
			continue
		}
		if best == nil || s.before(now, of, j, first, best) {
			first, best = of, j
		}
	}
	return first, best
}

func (s *Schedule[J]) before(now time.Time, a J, aAt *job, b J, bAt *job) bool {
	aDue, bDue := !aAt.due.After(now), !bAt.due.After(now)
	switch {
	case aDue != bDue:
		return aDue
	case !aDue:
		return aAt.due.Before(bAt.due)
	case s.First(a) != s.First(b):
		return s.First(a)
	case (aAt.waiting > 0) != (bAt.waiting > 0):
		return aAt.waiting > 0
	default:
		return s.Compare(a, b) < 0
	}
}

// run works until there is nothing to do, or closing begins.
func (s *Schedule[J]) run() {
	for {
		s.mu.Lock()
		of, j := s.next()
		if j == nil || s.Closing.Err() != nil {
			s.running = false
			s.Rest()
			s.mu.Unlock()
			return
		}
		due := j.due
		if hold := s.NotBefore(); hold.After(due) {
			due = hold
		}
		wait := time.Until(due)
		j.busy = wait <= 0
		s.mu.Unlock()
		if wait > 0 {
			s.sleep(wait)
			continue
		}
		s.turn(of, j)
	}
}

// sleep waits, or until something has changed.
func (s *Schedule[J]) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-s.Closing.Done():
	}
}

// turn is one turn of a job.
func (s *Schedule[J]) turn(of J, j *job) {
	t := s.Work(of)
	if t.Done {
		s.Ended(of)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.busy, j.due = false, t.Due
	if !t.Done {
		rested := j.rests()
		switch j.idle, j.stuck = t.Idle, t.Stuck; {
		case j.rests() && !rested:
			close(j.changed)
		case rested && !j.rests():
			j.changed = make(chan struct{})
		}
	}
	j.letGo()
}

// rests reports whether nobody waits for the job.
func (j *job) rests() bool { return j.idle || j.stuck }
