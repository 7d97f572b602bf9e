package model

// expand walks from s along every event that can happen next.
func (e *explorer) expand(s state) {
	e.clock(s)
	for i := range s.air {
		if s.air[i].kind != nothing && (i == 0 || s.air[i] != s.air[i-1]) {
			e.arrives(s, i)
		}
	}
	for k := range s.records {
		if s.records[k].status == running {
			e.works(s, k)
		}
	}
	e.changes(s)
	e.callGoesOn(s)
	e.recoveryGoesOn(s)
	e.crash(s)
}

// clock lets time pass to the next epoch.
func (e *explorer) clock(s state) {
	last := half
	if e.answersExpire {
		last = day
	}
	if s.now < last {
		s.now++
		e.reach(evExpired+event(s.now-expired), s)
	}
}

// arrives delivers message i to the service. What nobody waits for matters only if
// it starts to run: anything else is as if it had been lost.
func (e *explorer) arrives(s state, i int) {
	m := s.air[i]
	if !m.kind.isFence() && s.now > e.arriveUntil && m.sent != s.now && m.sent != fromRecovery {
		return
	}
	s.take(i)
	if m.kind.isFence() && e.otherHolder { // a different namespace, in which the account does not exist
		e.answers(s, m, reply{answer: notHolder}, evFenceOtherHolder)
		e.answers(s, m, reply{notHolder, true}, evFenceOtherHolder)
		return
	}
	if s.repeats < e.repeats && !m.repeat && !m.kind.isFence() {
		again := s
		again.repeats++
		copied := m
		copied.awaited, copied.repeat = false, true
		if again.put(copied) {
			e.meetsFront(again, m)
			e.meetsRecord(again, m)
		}
	}
	e.meetsFront(s, m)
	e.meetsRecord(s, m)
}

// meetsFront answers without looking at the key.
func (e *explorer) meetsFront(s state, m message) {
	e.answers(s, m, reply{answer: nothingPlaced}, evFrontUnavailable)
	if e.limitInFront {
		e.answers(s, m, reply{answer: tooMany}, evFrontLimit)
	}
	if e.refuseInFront {
		if m.kind.isFence() {
			e.answers(s, m, reply{answer: notAccepted}, evFrontRefused)
		} else {
			e.answers(s, m, reply{answer: refused}, evFrontRefused)
		}
	}
}

// slot is where the service keeps a request's key.
func (e *explorer) slot(k kind) int {
	if e.keysPerRoute && k.isFence() {
		return 2 + k.key()
	}
	return k.key()
}

// meetsRecord lets the message meet what is held under its key.
func (e *explorer) meetsRecord(s state, m message) {
	at := e.slot(m.kind)
	r := s.records[at]
	same := r.request.kind == m.kind && (!m.kind.isFence() || e.has(fencesAreOne))
	old := r.status != free && mayBeGone(r, s.now)
	sure := r.status != free && mustBeGone(r, s.now)
	if r.status == free || old {
		if r.status == running && !same { // 50: compared before the claim is released
			e.answers(s, m, reply{answer: keyReused}, evReused)
		}
		e.claims(s, m, at)
		if sure || r.status == free {
			return
		}
	}
	switch {
	case r.status == running && same:
		e.answers(s, m, reply{answer: inFlight}, evInFlight)
	case r.status == running:
		e.answers(s, m, reply{answer: inFlight}, evInFlight)
		e.answers(s, m, reply{answer: keyReused}, evReused)
	case r.status == stored && same:
		e.answers(s, m, reply{r.answer, true}, evReplayed)
	case r.status == stored:
		e.answers(s, m, reply{answer: keyReused}, evReused)
	case same:
		e.answers(s, m, reply{answer: resultUnknown}, evResultUnknown)
	default:
		e.answers(s, m, reply{answer: resultUnknown}, evResultUnknown)
		e.answers(s, m, reply{answer: keyReused}, evReused)
	}
}

// mayBeGone tells whether a record may no longer count: a claim after 15 minutes,
// an answer after 24 hours.
func mayBeGone(r record, now epoch) bool {
	if r.status == running {
		return mayBeOverdue(r.since, now)
	}
	return now == day && r.since < day
}

func mustBeGone(r record, now epoch) bool {
	return r.status == running && mustBeOverdue(r.since, now)
}

// claims starts a run for the message. Whoever had the key before is forgotten,
// but for what it did.
func (e *explorer) claims(s state, m message, at int) {
	r := &s.records[at]
	next := record{status: running, request: m, since: s.now,
		failedAfter: r.failedAfter, diedAfter: r.diedAfter, aged: r.aged}
	switch {
	case r.status == running && r.executed:
		next.diedAfter = true
	case r.status == running && !r.request.kind.isFence() && e.zombies:
		s.zombie = true
	case r.status == stored && r.executed || r.status == unknown && r.executed:
		next.aged = true
	}
	*r = next
	if m.kind.isFence() {
		e.reach(evFenceClaims, s)
	} else {
		e.reach(evClaims, s)
	}
}

// works lets the worker of a claim take its next step. A worker that never takes
// one has died; none takes one after its claim has run out.
func (e *explorer) works(s state, at int) {
	r := s.records[at]
	if mustBeOverdue(r.since, s.now) {
		return
	}
	fence := r.request.kind.isFence()
	if !fence && !r.executed {
		next := s
		next.records[at].executed = true
		e.executes(&next, r)
		e.reach(evExecutes, next)
	}
	e.stores(s, at, unknown, resultUnknown, evPartWay)
	switch {
	case fence:
		e.stores(s, at, stored, noSuchOrder, evFence404)
		e.stores(s, at, stored, notAccepted, evFence403)
		e.stores(s, at, free, failed, evFails)
	case r.executed:
		e.stores(s, at, stored, ok, evSucceeds)
		if e.failAfterWork {
			e.stores(s, at, free, failed, evFailsAfter)
		}
	default:
		e.stores(s, at, stored, refused, evRefuses)
		e.stores(s, at, free, failed, evFails)
		e.stores(s, at, free, nothingPlaced, evNothingPlaced)
		if e.limitStored {
			e.stores(s, at, stored, tooMany, evLimitStored)
		}
	}
}

// stores ends a run: its answer is kept or not, and goes to whom it may concern.
func (e *explorer) stores(s state, at int, next status, a answer, ev event) {
	r := &s.records[at]
	m := r.request
	switch next {
	case free:
		*r = record{failedAfter: r.failedAfter || r.executed, diedAfter: r.diedAfter, aged: r.aged}
	default:
		r.status, r.answer, r.since = next, a, s.now
		r.request = message{kind: m.kind}
	}
	if m.awaited {
		s.replyTo(m, reply{answer: a})
	}
	e.reach(ev, s)
}

// answers sends a reply to whoever waits for the message; if nobody does, nothing
// has happened that losing it would not have done.
func (e *explorer) answers(s state, m message, r reply, ev event) {
	if !m.awaited {
		return
	}
	s.replyTo(m, r)
	e.reach(ev, s)
}

func (s *state) replyTo(m message, r reply) {
	if m.kind.isFence() {
		s.recovery.reply = r
	} else {
		s.call.reply = r
	}
}

// executes is the moment that matters: the order trades.
func (e *explorer) executes(s *state, r record) {
	m := r.request
	if s.saidNotApplied {
		if m.repeat {
			e.found = append(e.found, byRepeat)
		} else {
			e.found = append(e.found, ranAfterNotApplied)
		}
	}
	end := alive
	if !e.has(lifetimeUnder15) {
		end = settledIn
	}
	switch {
	case m.sent == fromRecovery:
		e.found = append(e.found, placedByRecovery)
	case m.sent > end:
		e.found = append(e.found, staleOrder)
	}
	if s.account.executions > 0 {
		e.found = append(e.found, twice(s, r))
	}
	s.account.executions = min(2, s.account.executions+1)
}

// twice tells whose fault a second execution is.
func twice(s *state, r record) finding {
	m := r.request
	earlier := r.failedAfter || r.diedAfter || r.aged
	switch {
	case m.repeat:
		return byRepeat
	case m.sent == fromRecovery || !earlier:
		return ranTwice // under another key, or by recovery
	case r.failedAfter && !s.sentAfter5xx:
		return twiceAfter5xx
	case (r.diedAfter || r.aged) && m.sent < r.since:
		return twiceByLateCopy
	default:
		return ranTwice
	}
}

// changes lets happen what neither the call nor its requests do.
func (e *explorer) changes(s state) {
	a := s.account
	if e.others && e.canVanish && a.executions > 0 && !a.vanished {
		next := s
		next.account.vanished = true
		e.reach(evOthersCancel, next)
	}
	if s.zombie {
		next := s
		next.zombie = false
		e.executes(&next, record{request: message{kind: order1}, diedAfter: true, since: s.now})
		e.reach(evZombie, next)
	}
	if e.unknownFades {
		for k := range s.records {
			if r := s.records[k]; r.status == unknown {
				next := s
				next.records[k] = record{failedAfter: r.failedAfter, diedAfter: r.diedAfter || r.executed, aged: r.aged}
				e.reach(evUnknownFades, next)
			}
		}
	}
}
