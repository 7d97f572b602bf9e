package model

// rule is one sentence of the protocol.
type rule uint8

const (
	journalFirst rule = iota
	newKeyJournaled
	firstSendInLifetime
	everySendInLifetime
	lifetimeUnder15
	lifetimeOfIntent
	noAnswerIsDoubt
	foreignProvesNothing
	inFlightIsDoubt
	doubtSticks
	newKeyNeverInDoubt
	keyKeptOn429
	newKeyOnReplayed429
	no5xxResend
	resultUnknownIsFinal
	reusedIsUnknownIfDerived
	unknownStaysPending
	restartIsDoubt
	unaskedKeyIsDoubt
	recoverySparesLiving
	recoveryNeverPlaces
	fenceNoted
	fencesAreOne
	freshRefusalHoldsNothing
	otherHolderHoldsNothing
	receivedHoldsNothing
	noneOnlyOnceHeld
	readsAfterHeld
	settleWindow
	traceNeedsSoleActor
	baselineSettled
	// The sentences that the search added.
	replayInDoubtOnlyFences
	onlyReplayFences
	traceNeedsQuiet
	noneNeedsLastingTrace
	noneWaitsForRunning
	nextTryNeedsVerdict
	ruleCount

	// newKeyOnlyOnReplay is more than a network without repeats asks for: see
	// TestRepeats.
	newKeyOnlyOnReplay = ruleCount
)

// sentences are the rules in words, for the tables and the counterexamples.
var sentences = [ruleCount]string{
	journalFirst:             "the intent is durable before its first byte",
	newKeyJournaled:          "a replacement key is durable before use",
	firstSendInLifetime:      "the lifetime is judged before the first send too",
	everySendInLifetime:      "the lifetime is judged before every resend",
	lifetimeUnder15:          "the lifetime is at most 12 minutes",
	lifetimeOfIntent:         "the lifetime counts from the intent's first call",
	noAnswerIsDoubt:          "no answer after a byte was written is doubt, not failure",
	foreignProvesNothing:     "an answer without the service's shape proves nothing",
	inFlightIsDoubt:          "idempotency_in_flight is doubt, not a refusal",
	doubtSticks:              "after a doubt, a fresh refusal speaks for its own attempt alone",
	newKeyNeverInDoubt:       "no new key while in doubt",
	keyKeptOn429:             "a 429 keeps its key",
	newKeyOnReplayed429:      "a replayed 429 gets a new key",
	no5xxResend:              "a 5xx with another code is not resent",
	resultUnknownIsFinal:     "after idempotency_result_unknown the key is never sent again",
	reusedIsUnknownIfDerived: "422 is Unknown under a derived key",
	unknownStaysPending:      "an Unknown stays pending in the journal",
	restartIsDoubt:           "after a restart every pending intent is in doubt",
	unaskedKeyIsDoubt:        "without a journal to ask, a derived key starts in doubt",
	recoverySparesLiving:     "recovery leaves a living call alone",
	recoveryNeverPlaces:      "422 is not resent by recovery",
	fenceNoted:               "the fence is noted before it is sent",
	fencesAreOne:             "all fences of a key are one request",
	freshRefusalHoldsNothing: "a fence holds on 404 order_not_found, or once its own answer is replayed",
	otherHolderHoldsNothing:  "a fence does not hold on account_not_found",
	receivedHoldsNothing:     "422 is no fence",
	noneOnlyOnceHeld:         "no trace decides only once the fence holds",
	readsAfterHeld:           "the reads begin after the fence holds",
	settleWindow:             "two reads over a settle window",
	traceNeedsSoleActor:      "a trace decides only for a sole actor",
	baselineSettled:          "the baseline is read one window after our last write",
	replayInDoubtOnlyFences:  "after more than one doubtful send, a replayed refusal fences the key and does not settle",
	onlyReplayFences:         "a refusal fences the key only if it was replayed",
	traceNeedsQuiet:          "a trace decides only if nothing of ours could act by itself",
	noneNeedsLastingTrace:    "where a trace can vanish, its absence decides only for a sole actor",
	noneWaitsForRunning:      "without the fence, none decides only 30 minutes after the last send",
	nextTryNeedsVerdict:      "a decision's next try needs NotApplied, and not only a dead key",
}

// rules is the set that the client follows.
type rules uint64

// allRules is the protocol.
const allRules rules = 1<<ruleCount - 1

// hardened is the protocol for a network that repeats requests.
const hardened = allRules | 1<<newKeyOnlyOnReplay

func (r rules) has(one rule) bool { return r&(1<<one) != 0 }

func (r rules) without(off ...rule) rules {
	for _, one := range off {
		r &^= 1 << one
	}
	return r
}
