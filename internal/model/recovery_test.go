package model

// recoveryGoesOn lets Recover or Resolve take its next step.
func (e *explorer) recoveryGoesOn(s state) {
	r := &s.recovery
	switch r.step {
	case off:
		e.recoveryBegins(s)
		return
	case begun:
		e.notesFence(s)
		return
	case noted:
		if !r.held {
			e.sendsFence(s)
		} else if !e.has(nextTryNeedsVerdict) {
			e.nextTry(s)
		}
	case fencing:
		e.waitsForFence(s)
	}
	e.readsAccount(s)
}

// recoveryBegins takes a pending intent of an earlier process, or of a call that
// has returned. What the call learned about its key is known to the same process
// only.
func (e *explorer) recoveryBegins(s state) {
	if !s.journal.pending {
		return
	}
	living := s.call.phase == open || s.call.phase == awaiting || s.call.phase == idle
	if living && e.has(recoverySparesLiving) {
		return
	}
	s.recovery = recovery{step: begun, second: s.journal.second, held: s.call.spent}
	e.reach(evRecover, s)
}

// notesFence makes it durable that the key is given up.
func (e *explorer) notesFence(s state) {
	s.recovery.step = noted
	s.journal.fenced = e.has(fenceNoted)
	e.reach(evFenceNoted, s)
}

func (e *explorer) sendsFence(s state) {
	if s.fences == e.fences || !s.put(message{kind: fenceOf(s.recovery.second), awaited: true}) {
		return
	}
	s.fences++
	s.recovery.step = fencing
	e.reach(evFenceSent, s)
}

// nextTry is what a program must not do: go on under the next key because the one
// before can run no more, although it may have run.
func (e *explorer) nextTry(s state) {
	living := s.call.phase != returned && s.call.phase != gone
	if living || s.recovery.second {
		return
	}
	s.call = call{phase: open, second: true}
	s.journal = journal{pending: true, second: true}
	s.recovery = recovery{}
	e.reach(evNextTry, s)
}

// waitsForFence judges the fence's answer. This is the table of the fence.
func (e *explorer) waitsForFence(s state) {
	heard := s.recovery.reply
	s.stopWaiting(true)
	s.recovery.step = noted
	e.reach(evFenceLost, s)
	r := &s.recovery
	holds, received := false, false
	switch heard.answer {
	case noAnswer:
		return
	case noSuchOrder, resultUnknown:
		holds = true
	case keyReused:
		received = true
		holds = !e.has(receivedHoldsNothing)
	case notHolder:
		holds = !e.has(otherHolderHoldsNothing)
	case notAccepted, tooMany:
		holds = heard.replayed || !e.has(freshRefusalHoldsNothing)
	}
	switch {
	case holds:
		r.held = true
		if heard.replayed {
			e.goals[goalFenceReplayed] = true
		}
		e.reach(evFenceHolds, s)
	case received:
		e.reach(evFenceReceived, s)
		if !e.has(recoveryNeverPlaces) && s.sends < e.sends+1 && s.put(message{kind: orderOf(r.second), sent: fromRecovery}) {
			s.sends++
			e.reach(evResends, s)
		}
	default:
		e.reach(evFenceNothing, s)
	}
}

// readsAccount reads twice over the settle window. Reads lag: the first may miss
// what has executed, the second shows what had executed before the first.
func (e *explorer) readsAccount(s state) {
	shows := s.account.executions > 0 && !s.account.vanished
	other := e.others || e.active || !e.has(baselineSettled)
	if !s.recovery.reading {
		if e.noneMayDecide(&s) {
			e.readsFirst(s, false, evReadNone)
		}
		if !e.traceMayDecide() {
			return
		}
		if shows {
			e.readsFirst(s, true, evReadOurs)
		} else if other {
			e.readsFirst(s, true, evReadOther)
		}
		return
	}
	saw, mustSee := s.recovery.saw, s.recovery.mustSee
	if saw || shows || other {
		e.decides(s, true)
	}
	if !saw && !(shows && mustSee) {
		e.decides(s, false)
	}
}

// traceMayDecide tells whether a trace says Applied.
func (e *explorer) traceMayDecide() bool {
	return !e.has(traceNeedsSoleActor) || e.sole && (!e.active || !e.has(traceNeedsQuiet))
}

// noneMayDecide tells whether reads that begin now can come to anything without a
// trace, or have to show that they cannot.
func (e *explorer) noneMayDecide(s *state) bool {
	return s.recovery.held || !e.has(readsAfterHeld) || !e.has(noneOnlyOnceHeld) || e.mayDecideUnheld(s)
}

// mayDecideUnheld tells whether a missing trace decides although no fence holds.
func (e *explorer) mayDecideUnheld(s *state) bool {
	return (e.sole || e.unfenced) && s.now >= e.quiet()
}

func (e *explorer) readsFirst(s state, saw bool, ev event) {
	r := &s.recovery
	r.reading, r.saw = true, saw
	r.mustSee = !saw && s.account.executions > 0
	r.readHeld = r.held
	r.readLate = e.mayDecideUnheld(&s)
	if !e.has(settleWindow) {
		e.decides(s, saw)
		return
	}
	e.reach(ev, s)
}

// quiet is from when on a missing trace decides although no fence holds: once
// nothing can be on its way, and nothing that arrived can still be running.
func (e *explorer) quiet() epoch {
	if e.has(noneWaitsForRunning) {
		return half
	}
	return settledIn
}

// decides is the table of the reads.
func (e *explorer) decides(s state, trace bool) {
	r := &s.recovery
	held := r.held && (r.readHeld || !e.has(readsAfterHeld)) && !e.unfenced
	lasting := e.sole || !e.canVanish || !e.has(noneNeedsLastingTrace)
	late := r.readLate
	r.reading, r.saw, r.mustSee, r.readHeld, r.readLate = false, false, false, false, false
	switch {
	case trace && e.traceMayDecide():
		e.says(&s, true, goalTrace)
		s.recovery = recovery{}
		e.reach(evVerdictApplied, s)
	case trace:
		e.reach(evUndecided, s)
	case held && lasting:
		e.says(&s, false, goalFence)
		s.recovery = recovery{}
		e.reach(evVerdictNot, s)
	case !e.has(noneOnlyOnceHeld) || late && lasting:
		e.says(&s, false, goalNone)
		s.recovery = recovery{}
		e.reach(evVerdictNot, s)
	default:
		e.reach(evUndecided, s)
	}
}
