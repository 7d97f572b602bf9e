package model

import "testing"

// without takes one rule out of the protocol, and names what the search must find
// then.
type without struct {
	rule  rule
	world func(w *world)
	find  finding
}

func soleActor(w *world) { w.sole = true }

// needed has every rule whose absence breaks a promise, most of them with two
// sends and one crash.
var needed = []without{
	{rule: journalFirst, find: forgotten},
	{rule: newKeyJournaled, find: ranAfterNotApplied},
	{rule: firstSendInLifetime, find: staleOrder},
	{rule: everySendInLifetime, find: staleOrder},
	{rule: lifetimeUnder15, find: ranTwice},
	{rule: lifetimeOfIntent, find: ranTwice},
	{rule: noAnswerIsDoubt, find: falseNotApplied},
	{rule: foreignProvesNothing, find: falseNotApplied},
	{rule: inFlightIsDoubt, find: falseNotApplied},
	{rule: doubtSticks, find: falseNotApplied},
	{rule: newKeyNeverInDoubt, world: threeSends, find: ranTwice},
	{rule: keyKeptOn429, world: threeSends, find: ranTwice},
	{rule: no5xxResend, find: ranTwice},
	{rule: resultUnknownIsFinal, world: func(w *world) { w.unknownFades = true }, find: ranTwice},
	{rule: unknownStaysPending, find: forgotten},
	{rule: restartIsDoubt, find: falseNotApplied},
	{rule: unaskedKeyIsDoubt, world: noJournal, find: falseNotApplied},
	{rule: recoverySparesLiving, find: ranAfterNotApplied},
	{rule: recoveryNeverPlaces, find: placedByRecovery},
	{rule: freshRefusalHoldsNothing, find: ranAfterNotApplied},
	{rule: otherHolderHoldsNothing, world: func(w *world) { w.otherHolder = true }, find: ranAfterNotApplied},
	{rule: receivedHoldsNothing, find: ranAfterNotApplied},
	{rule: noneOnlyOnceHeld, find: ranAfterNotApplied},
	{rule: readsAfterHeld, find: falseNotApplied},
	{rule: settleWindow, find: falseNotApplied},
	{rule: traceNeedsSoleActor, world: func(w *world) { w.others = true }, find: falseApplied},
	{rule: baselineSettled, world: soleActor, find: falseApplied},
	{rule: replayInDoubtOnlyFences, world: threeSends, find: falseNotApplied},
	{rule: onlyReplayFences, find: ranAfterNotApplied},
	{rule: traceNeedsQuiet, world: func(w *world) { w.sole, w.active = true, true }, find: falseApplied},
	{rule: noneNeedsLastingTrace, world: func(w *world) { w.others, w.canVanish = true, true }, find: falseNotApplied},
	{rule: noneWaitsForRunning, world: soleActor, find: ranAfterNotApplied},
	{rule: nextTryNeedsVerdict, find: ranTwice},
}

func threeSends(w *world) { w.sends, w.crashes = 3, 0 }
func noJournal(w *world)  { w.durable, w.oneKey = false, true }

func TestEachRuleIsNeeded(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, c := range needed {
		t.Run(sentences[c.rule], func(t *testing.T) {
			t.Parallel()
			w := ordinary()
			if c.world != nil {
				c.world(&w)
			}
			r := explore(w, allRules.without(c.rule), c.find)
			if r.count[c.find] == 0 {
				t.Fatalf("not found in %d states: %s", r.states, findings[c.find])
			}
			t.Logf("%d states\n%s", r.states, r.schedule(c.find))
		})
	}
}

// harmless has the rules whose absence alone breaks no promise.
var harmless = []struct {
	rule rule
	why  string
	lost goal // what cannot be reached without it, if anything
}{
	{fenceNoted, "a resend after a fence meets 422 or in-flight, which a restarted call takes for doubt; " +
		"the note saves it the trip, and is needed where 422 or a restart is misjudged", goalCount},
	{reusedIsUnknownIfDerived, "a restarted call is in doubt anyway; it guards against a doubt that got lost", goalCount},
	{newKeyOnReplayed429, "only progress: the same 429 would come back for 24 hours", goalAfter429},
	{fencesAreOne, "only progress: a second fence would meet 422, its own predecessor's record", goalFenceReplayed},
}

func TestRulesThatAreNotAboutSafety(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, c := range harmless {
		t.Run(sentences[c.rule], func(t *testing.T) {
			t.Parallel()
			w := ordinary()
			if c.lost == goalAfter429 {
				// A refusal in front of the key would be another way to a new one.
				w.sends, w.crashes, w.fences, w.refuseInFront = 3, 0, 1, false
			}
			r := explore(w, allRules.without(c.rule))
			for _, f := range r.broken() {
				t.Errorf("it is about safety:\n%s", r.schedule(f))
			}
			if c.lost == goalCount {
				return
			}
			if r.goals[c.lost] {
				t.Errorf("reached without it: %s", goals[c.lost])
			}
			if whole := explore(w, allRules); !whole.goals[c.lost] {
				t.Errorf("not reached with it either: %s", goals[c.lost])
			}
		})
	}
}

func TestEveryRuleIsAccountedFor(t *testing.T) {
	seen := map[rule]bool{}
	for _, c := range needed {
		seen[c.rule] = true
	}
	for _, c := range harmless {
		seen[c.rule] = true
		t.Logf("%s: %s", sentences[c.rule], c.why)
	}
	for r := rule(0); r < ruleCount; r++ {
		if !seen[r] {
			t.Errorf("nothing shows what it is for: %s", sentences[r])
		}
	}
}
