package model

// callGoesOn lets the living call take its next step.
func (e *explorer) callGoesOn(s state) {
	switch s.call.phase {
	case idle:
		e.begins(s)
	case open:
		e.sendsOrder(s)
		e.givesUp(s)
	case awaiting, grace:
		e.waits(s)
	case returned:
		e.stillWants(s)
	case gone:
		e.decidesAgain(s)
	}
	if !e.has(journalFirst) && s.call.phase != idle && s.call.phase != gone && s.sends > 0 && !s.journal.pending && !s.journal.settled {
		s.journal.pending = true
		e.reach(evJournalLate, s)
	}
}

func (e *explorer) begins(s state) {
	s.call.phase = open
	if !e.has(journalFirst) {
		e.reach(evBeginUnwritten, s)
		return
	}
	s.journal.pending = true
	e.reach(evBegin, s)
}

// maySend is judged just before the bytes leave.
func (e *explorer) maySend(s *state) bool {
	if s.sends == e.sends || s.call.spent || e.has(fenceNoted) && s.journal.fenced {
		return false
	}
	switch {
	case s.now == alive:
		return true
	case !e.has(lifetimeUnder15) && s.now <= quarter:
		return true
	case !e.has(firstSendInLifetime) && s.sends == 0:
		return true
	case !e.has(everySendInLifetime) && s.sends > 0 && !s.call.again:
		return true
	case !e.has(lifetimeOfIntent) && s.call.again:
		return true
	default:
		return false
	}
}

func (e *explorer) sendsOrder(s state) {
	if !e.maySend(&s) || !s.put(message{kind: orderOf(s.call.second), sent: s.now, awaited: true}) {
		return
	}
	s.sends++
	s.call.phase = awaiting
	if s.call.heard5xx {
		s.sentAfter5xx = true
	}
	e.reach(evSend, s)
}

// givesUp returns without another send: the lifetime is over, the budget or the
// caller says so.
func (e *explorer) givesUp(s state) {
	if s.call.doubt || s.call.heard5xx {
		e.returnsUnknown(s, evGiveUpUnknown)
		return
	}
	e.settles(s, false, evGiveUpNot, goalRefused)
}

// waits for an answer, which may come, or not, or be somebody else's.
func (e *explorer) waits(s state) {
	if s.call.reply.answer != noAnswer {
		next := s
		next.call.reply = reply{}
		e.hears(next, s.call.reply)
	}
	lost := s
	lost.stopWaiting(false)
	if !e.has(noAnswerIsDoubt) {
		e.settles(lost, false, evNoAnswer, goalRefused)
	} else {
		lost.call.doubt = true
		e.continues(lost, evNoAnswer)
	}
	if !e.has(foreignProvesNothing) {
		page := s
		page.stopWaiting(false)
		e.settles(page, false, evPage, goalRefused)
	}
	if s.call.phase == awaiting {
		left := s
		left.call.phase = grace
		if !e.has(unknownStaysPending) {
			left.journal = journal{settled: true}
		}
		e.reach(evLeave, left)
	}
}

// hears judges an answer of the service. This is the table of the call.
func (e *explorer) hears(s state, r reply) {
	c := &s.call
	doubt := c.doubt && e.has(doubtSticks)
	switch r.answer {
	case ok:
		g := goalApplied
		if !c.doubt {
			g = goalCount
		}
		e.settles(s, true, evReadOK, g)
	case refused:
		e.hearsRefusal(s, r, doubt)
	case tooMany:
		switch {
		case r.replayed && e.has(newKeyOnReplayed429):
			e.hearsRefusal(s, r, doubt)
		case !e.has(keyKeptOn429):
			e.newKey(s)
		default:
			e.continues(s, evReadRetry)
		}
	case nothingPlaced:
		e.continues(s, evReadRetry)
	case inFlight:
		if !e.has(inFlightIsDoubt) {
			e.settles(s, false, evReadRefusal, goalRefused)
			return
		}
		c.doubt = true
		e.continues(s, evReadDoubt)
	case resultUnknown:
		c.doubt = true
		if !e.has(resultUnknownIsFinal) {
			e.continues(s, evReadDoubt)
			return
		}
		c.spent = true
		e.returnsUnknown(s, evReadUnknown)
	case keyReused:
		if c.doubt && e.has(doubtSticks) || e.derived && e.has(reusedIsUnknownIfDerived) {
			c.doubt = true
			e.returnsUnknown(s, evReadUnknown)
			return
		}
		e.settles(s, false, evReadRefusal, goalRefused)
	case failed:
		c.doubt, c.heard5xx = true, true
		if !e.has(no5xxResend) {
			e.continues(s, evReadDoubt)
			return
		}
		e.returnsUnknown(s, evReadUnknown)
	}
}

// hearsRefusal judges a refusal that is or may be stored.
func (e *explorer) hearsRefusal(s state, r reply, doubt bool) {
	c := &s.call
	settlesIt := !doubt || r.replayed && (s.oneBefore() || !e.has(replayInDoubtOnlyFences))
	switch {
	case doubt && e.has(newKeyNeverInDoubt):
	case !r.replayed && e.has(newKeyOnlyOnReplay):
		e.continues(s, evReadRetry) // the same key tells whether the refusal is stored
	default:
		e.newKey(s)
	}
	if settlesIt {
		e.settles(s, false, evReadRefusal, goalRefused)
		return
	}
	c.spent = r.replayed || !e.has(onlyReplayFences)
	e.returnsUnknown(s, evReadUnknown)
}

// oneBefore tells whether the call knows that exactly one send came before the one
// that was answered: what is replayed is then that send's own answer.
func (s *state) oneBefore() bool {
	return s.sends == 2 && s.crashes == 0 && !s.call.second
}

// newKey goes on with the next try: nothing of the one before can run, so nothing
// of it is in doubt.
func (e *explorer) newKey(s state) {
	c := &s.call
	if c.second || c.phase != awaiting || e.oneKey {
		return
	}
	c.second, c.doubt, c.phase = true, false, open
	if e.has(newKeyJournaled) {
		s.journal.second = true
	}
	e.reach(evReadNewKey, s)
}

// continues goes back to where a resend is judged; after the caller has left,
// there is none.
func (e *explorer) continues(s state, ev event) {
	if s.call.phase == grace {
		s.call.phase = returned
	} else {
		s.call.phase = open
	}
	e.reach(ev, s)
}

func (e *explorer) returnsUnknown(s state, ev event) {
	s.call.phase = returned
	if !e.has(unknownStaysPending) {
		s.journal = journal{settled: true}
	}
	e.reach(ev, s)
}

// settles closes the intent by the call's own answer.
func (e *explorer) settles(s state, applied bool, ev event, g goal) {
	s.call = call{phase: returned}
	e.says(&s, applied, g)
	e.reach(ev, s)
}

// says is a verdict, from whomever: it is checked, and closes the journal.
func (e *explorer) says(s *state, applied bool, g goal) {
	switch {
	case applied && s.account.executions == 0:
		e.found = append(e.found, falseApplied)
	case !applied && s.account.executions > 0:
		e.found = append(e.found, falseNotApplied)
	case applied && s.saidNotApplied || !applied && s.saidApplied:
		e.found = append(e.found, contradiction)
	}
	if applied {
		s.saidApplied = true
		if s.records[1].status == stored && s.records[1].answer == ok {
			e.goals[goalSecondKey] = true
			if s.records[0].answer == tooMany {
				e.goals[goalAfter429] = true
			}
		}
	} else {
		s.saidNotApplied = true
	}
	if g < goalCount {
		e.goals[g] = true
	}
	s.journal = journal{settled: true}
}

// stillWants is a caller who got Unknown and has the same bytes sent again, which
// is asked for in so many words, and before the key is given up.
func (e *explorer) stillWants(s state) {
	if !s.journal.pending || s.journal.fenced || s.call.spent || s.call.heard5xx || s.recovery.step != off {
		return
	}
	s.call = call{phase: open, doubt: true, second: s.journal.second}
	e.reach(evStillWants, s)
}

// decidesAgain is a restarted program that comes to the same decision, and so to
// the same key. An intent that is fenced, or being recovered, is left alone.
func (e *explorer) decidesAgain(s state) {
	if !e.derived || s.recovery.step != off || s.journal.settled || e.has(fenceNoted) && s.journal.fenced {
		return
	}
	if s.journal.pending {
		s.call = call{phase: open, second: s.journal.second, doubt: e.has(restartIsDoubt), again: true}
	} else {
		s.call = call{phase: open, doubt: e.has(unaskedKeyIsDoubt), again: true}
		s.journal.pending = true
	}
	e.reach(evAgain, s)
}

// crash takes the memory, and leaves what is durable.
func (e *explorer) crash(s state) {
	if s.crashes == e.crashes || s.call.phase == idle || s.saidApplied || s.saidNotApplied {
		return
	}
	s.crashes++
	s.stopWaiting(false)
	s.stopWaiting(true)
	s.call, s.recovery = call{phase: gone}, recovery{}
	if !e.durable {
		s.journal = journal{}
	}
	if s.journal.pending && s.sends > 0 {
		e.goals[goalUnknownKept] = true
	}
	e.reach(evCrash, s)
}
