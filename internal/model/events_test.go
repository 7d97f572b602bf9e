package model

// event is a line of a schedule.
type event uint8

const (
	_ event = iota // a schedule has no event before its first
	// Time.
	evExpired
	evQuarter
	evSettledIn
	evHalf
	evDay
	// Service.
	evClaims
	evFenceClaims
	evExecutes
	evSucceeds
	evFailsAfter
	evFails
	evRefuses
	evNothingPlaced
	evLimitStored
	evPartWay
	evFence404
	evFence403
	evFrontUnavailable
	evFrontLimit
	evFrontRefused
	evInFlight
	evReused
	evReplayed
	evResultUnknown
	evUnknownFades
	evFenceOtherHolder
	evZombie
	// Account.
	evOthersCancel
	// Call.
	evBegin
	evBeginUnwritten
	evJournalLate
	evSend
	evNoAnswer
	evPage
	evLeave
	evGiveUpUnknown
	evGiveUpNot
	evReadOK
	evReadRefusal
	evReadUnknown
	evReadRetry
	evReadNewKey
	evReadDoubt
	evAgain
	evStillWants
	evNextTry
	evCrash
	// Recovery.
	evRecover
	evFenceNoted
	evFenceSent
	evFenceLost
	evFenceHolds
	evFenceNothing
	evFenceReceived
	evResends
	evReadNone
	evReadOurs
	evReadOther
	evUndecided
	evVerdictApplied
	evVerdictNot
	eventCount
)

var events = [eventCount]string{
	evExpired:          "time: the lifetime is over",
	evQuarter:          "time: 15 minutes after the first send",
	evSettledIn:        "time: 15 minutes after the last send",
	evHalf:             "time: 30 minutes after the last send",
	evDay:              "time: more than 24 hours",
	evClaims:           "service: an order arrives and claims its key",
	evFenceClaims:      "service: a fence arrives and claims the key",
	evExecutes:         "service: the order EXECUTES",
	evSucceeds:         "service: answers 2xx, and stores it",
	evFailsAfter:       "service: answers 500 after the work; nothing stored",
	evFails:            "service: answers 500; nothing done, nothing stored",
	evRefuses:          "service: refuses, and stores it",
	evNothingPlaced:    "service: answers 503, nothing placed, nothing stored",
	evLimitStored:      "service: answers 429, and stores it",
	evPartWay:          "service: fails part-way; the result is unknown",
	evFence404:         "service: answers the fence 404 order_not_found, and stores it",
	evFence403:         "service: answers the fence 403, and stores it",
	evFrontUnavailable: "service: answers 503, nothing placed, in front of the key",
	evFrontLimit:       "service: answers 429, in front of the key",
	evFrontRefused:     "service: refuses in front of the key; nothing stored",
	evInFlight:         "service: answers 409 idempotency_in_flight",
	evReused:           "service: answers 422 idempotency_key_reused",
	evReplayed:         "service: replays the stored answer",
	evResultUnknown:    "service: answers 409 idempotency_result_unknown",
	evUnknownFades:     "service: forgets that the result is unknown",
	evFenceOtherHolder: "service: answers the fence 404 account_not_found, to another holder",
	evZombie:           "service: a worker goes on after its claim ran out; the order EXECUTES",
	evOthersCancel:     "account: somebody cancels the resting order",
	evBegin:            "client: the intent is durable",
	evBeginUnwritten:   "client: goes on, and nothing is written down",
	evJournalLate:      "client: the intent is durable",
	evSend:             "client: sends the order",
	evNoAnswer:         "client: gets no answer",
	evPage:             "client: gets a page of something in front",
	evLeave:            "client: the caller leaves with Unknown; the attempt goes on",
	evGiveUpUnknown:    "client: sends no more; returns Unknown",
	evGiveUpNot:        "client: sends no more; returns NotApplied",
	evReadOK:           "client: reads 2xx; Applied",
	evReadRefusal:      "client: reads a refusal; NotApplied",
	evReadUnknown:      "client: reads the answer; Unknown",
	evReadRetry:        "client: reads the answer; same key",
	evReadNewKey:       "client: reads the answer; goes on under a new key",
	evReadDoubt:        "client: reads the answer; in doubt, same key",
	evAgain:            "program: decides the same again",
	evStillWants:       "program: still wants the order, and has it sent again",
	evNextTry:          "program: the key is dead; goes on under the next",
	evCrash:            "program: CRASHES and starts again",
	evRecover:          "recovery: begins",
	evFenceNoted:       "recovery: the fence is durable",
	evFenceSent:        "recovery: sends the fence",
	evFenceLost:        "recovery: gets no answer",
	evFenceHolds:       "recovery: reads the fence's answer; it holds",
	evFenceNothing:     "recovery: reads the fence's answer; it proves nothing",
	evFenceReceived:    "recovery: reads the fence's 422: the order was received",
	evResends:          "recovery: sends the order",
	evReadNone:         "recovery: reads the account, which shows nothing of it",
	evReadOurs:         "recovery: reads the account, which shows a trace",
	evReadOther:        "recovery: reads the account, which shows a trace that is not ours",
	evUndecided:        "recovery: reads again; undetermined",
	evVerdictApplied:   "recovery: reads again; Applied",
	evVerdictNot:       "recovery: reads again; NotApplied",
}
