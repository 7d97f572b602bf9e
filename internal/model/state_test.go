package model

// epoch is abstract time, as far as the contract's periods tell it apart.
type epoch uint8

const (
	alive     epoch = iota // inside the intent's lifetime
	expired                // after it, less than 15 minutes after the first send
	quarter                // 15 minutes after the first send, less after the last
	settledIn              // 15 minutes after the last send
	half                   // 30 minutes after the last send
	day                    // more than 24 hours later
)

// fromRecovery stands in a message for the time of an order that recovery sent,
// which must never be.
const fromRecovery epoch = 7

// answer is what the service says.
type answer uint8

const (
	noAnswer      answer = iota
	ok                   // 2xx
	refused              // a refusal below 500
	tooMany              // 429
	nothingPlaced        // 503 whose code says that nothing was placed
	failed               // 5xx with any other code
	inFlight             // 409 idempotency_in_flight
	resultUnknown        // 409 idempotency_result_unknown
	keyReused            // 422 idempotency_key_reused
	noSuchOrder          // 404 order_not_found, the fence's own
	notAccepted          // 403, when a fence is refused for another reason
	notHolder            // 404 account_not_found
)

// reply is an answer on its way to the client that waits for it.
type reply struct {
	answer   answer
	replayed bool
}

// kind is what a request asks for, and under which key: orders and fences of the
// first and the second try.
type kind uint8

const (
	nothing kind = iota
	order1
	order2
	fence1
	fence2
)

func (k kind) isFence() bool { return k >= fence1 }
func (k kind) key() int      { return int(k-1) % 2 }

// message is a request that has been sent and not arrived. One that nobody waits
// for may stay so for ever: that is how it gets lost.
type message struct {
	kind    kind
	sent    epoch
	awaited bool
	repeat  bool // a second copy, made by something on the way
}

const inTheAir = 6

// status is what the service holds under a key.
type status uint8

const (
	free    status = iota
	running        // claimed; a worker that never goes on is one that died
	stored
	unknown // the request failed part-way
)

// record is the service's memory of one key.
type record struct {
	status   status
	request  message // whose claim or answer it is
	since    epoch
	answer   answer
	executed bool // by this run
	// What earlier runs under the key did that nothing else remembers.
	failedAfter bool // executed, then answered 5xx
	diedAfter   bool // executed, and its claim ran out
	aged        bool // executed, and its answer is no longer stored
}

// phase is where the living call stands.
type phase uint8

const (
	idle     phase = iota
	open           // durable, and free to send
	awaiting       // sent, and waiting
	grace          // returned to the caller, and still waiting
	returned
	gone // the process ended
)

// call is the memory of one call of the write.
type call struct {
	phase    phase
	second   bool // on its second key
	doubt    bool
	heard5xx bool
	spent    bool // an answer has fenced the key
	again    bool // of a decision that an earlier process had made
	reply    reply
}

// step is where a recovery stands.
type step uint8

const (
	off step = iota
	begun
	noted // the fence is in the journal, and may be sent
	fencing
)

// recovery is the memory of one Recover or Resolve.
type recovery struct {
	step   step
	second bool // of the second key
	held   bool
	reply  reply

	reading  bool // between the two reads
	readHeld bool // the fence held when they began
	readLate bool // they began when a missing trace may decide without it
	saw      bool // the first read showed a trace
	mustSee  bool // executed before the first read: the second shows it
}

// journal is what survives a crash.
type journal struct {
	pending, settled, second, fenced bool
}

// account is what reads can show.
type account struct {
	executions uint8
	vanished   bool // its trace was taken away again
}

// state is the whole world at one moment.
type state struct {
	now      epoch
	call     call
	recovery recovery
	journal  journal
	account  account
	air      [inTheAir]message
	records  [4]record // two keys; and the fences' own, where keys are per route

	sends, fences, crashes, repeats uint8

	sentAfter5xx                bool
	saidApplied, saidNotApplied bool
	zombie                      bool // a worker that outlived its claim
}

// put adds a message in canonical order, so that states that differ by the order
// of equal things are one.
func (s *state) put(m message) bool {
	if s.air[inTheAir-1].kind != nothing {
		return false
	}
	i := inTheAir - 1
	for i > 0 && less(s.air[i-1], m) {
		s.air[i] = s.air[i-1]
		i--
	}
	s.air[i] = m
	return true
}

// take removes message i.
func (s *state) take(i int) message {
	m := s.air[i]
	copy(s.air[i:], s.air[i+1:])
	s.air[inTheAir-1] = message{}
	return m
}

// forget drops what can no longer make a difference, so that states that differ by
// it alone are one.
func (s *state) forget() {
	if s.call.phase == returned {
		s.call = call{phase: returned, spent: s.call.spent, heard5xx: s.call.heard5xx}
	}
	for i := range s.records {
		if r := &s.records[i]; r.status > running && r.since < day {
			r.since = alive
		}
	}
	if !s.saidApplied && !s.saidNotApplied || s.call.phase == grace {
		return
	}
	// After a verdict only orders matter. A fence that never arrives is the worse case.
	s.recovery, s.journal.fenced, s.call.spent, s.call.heard5xx = recovery{}, false, false, false
	for i := 0; i < inTheAir; {
		if s.air[i].kind.isFence() {
			s.take(i)
		} else {
			i++
		}
	}
	if !s.orderMayRun() {
		*s = state{now: day, call: call{phase: returned}, saidApplied: s.saidApplied, saidNotApplied: s.saidNotApplied}
	}
}

// orderMayRun tells whether an order is on its way, or running and not executed.
func (s *state) orderMayRun() bool {
	for i := range s.records {
		if r := &s.records[i]; r.status == running && !r.request.kind.isFence() && !r.executed {
			return true
		}
	}
	return s.air[0].kind != nothing || s.zombie
}

// less puts empty places last.
func less(a, b message) bool { return weight(a) < weight(b) }

func weight(m message) int {
	w := int(m.kind)<<8 | int(m.sent)<<2
	if m.awaited {
		w |= 2
	}
	if m.repeat {
		w |= 1
	}
	return w
}

// stopWaiting forgets the request that the call (or the recovery) waits for: it
// goes on, and its answer reaches nobody.
func (s *state) stopWaiting(fence bool) {
	for i := range s.air {
		if m := s.air[i]; m.awaited && m.kind.isFence() == fence {
			s.take(i)
			m.awaited = false
			s.put(m)
			break
		}
	}
	for i := range s.records {
		if r := &s.records[i].request; r.awaited && r.kind.isFence() == fence {
			r.awaited = false
		}
	}
	if fence {
		s.recovery.reply = reply{}
	} else {
		s.call.reply = reply{}
	}
}

func orderOf(second bool) kind {
	if second {
		return order2
	}
	return order1
}

func fenceOf(second bool) kind {
	if second {
		return fence2
	}
	return fence1
}
