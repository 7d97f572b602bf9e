package model

// world is what the client cannot choose: the readings of the contract, the
// network, the account; and how far the search goes. What a world allows, the
// service may do or not do at each request anew, so that one search covers every
// mixture of the readings.
type world struct {
	// Bounds.
	sends, fences, crashes, repeats uint8

	// Service. The numbers are those of the readings.
	refuseInFront bool  // 51: validation in front of the claim, nothing stored
	limitInFront  bool  // 6: 429 in front of the claim
	limitStored   bool  // 6: 429 stored
	failAfterWork bool  // 12, 52: a 5xx after executed work
	keysPerRoute  bool  // 49: a fence is alone under its key
	unknownFades  bool  // 11: idempotency_result_unknown does not last
	zombies       bool  // a worker goes on after its claim has run out
	otherHolder   bool  // recovery runs with the API key of another holder
	arriveUntil   epoch // when the last order still on its way may arrive
	answersExpire bool  // 24 hours may pass

	// Caller.
	derived bool // the key comes from the decision: a restarted program sends it again
	durable bool // the journal survives a crash
	oneKey  bool // a refusal ends the call: there is no second try

	// unfenced is a client that knows that a fence proves nothing (49), and waits
	// until nothing can run any more.
	unfenced bool

	// Account.
	others    bool // somebody else trades it
	sole      bool // the caller declares that nobody does
	active    bool // resting orders, runs or triggers of ours act by themselves
	canVanish bool // a resting limit: cancelled, it leaves no trace
}

// ordinary is the world that the protocol is made for: everything that the
// contract leaves open goes either way at each request, each send arrives at most
// once and within 15 minutes, and workers die with their claims.
func ordinary() world {
	return world{
		sends: 2, fences: 2, crashes: 1,
		refuseInFront: true, limitInFront: true, limitStored: true, failAfterWork: true,
		arriveUntil: quarter, answersExpire: true,
		derived: true, durable: true,
	}
}

// mayBeOverdue tells whether a claim since then can have run out by now.
func mayBeOverdue(since, now epoch) bool {
	return now >= quarter && now > since || now >= half && since == now
}

// mustBeOverdue tells whether it cannot be otherwise.
func mustBeOverdue(since, now epoch) bool {
	switch {
	case now == day:
		return since < day
	case now == half:
		return since < settledIn
	case now == settledIn:
		return since == alive
	default:
		return false
	}
}
