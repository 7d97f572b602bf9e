package rig

// The accidents that no client can promise away, by the names that the searches of internal/proof
// count them by.
const (
	FailedAfterWork = "a 5xx after the work, sent again within the TTL"
	LateProbe       = "a late probe"
	Outlived        = "a worker that outlived its claim"
	LateRequest     = "a request that was on its way for half an hour"
	Jumped          = "a clock that jumped"
	Forgotten       = "a decision taken again after the service forgot it"
	Unstored        = "two programs, and an answer that the service does not store"
	Repeated        = "something on the way that repeats requests"
	InItsWords      = "something in front that answers in the service's words after the work"
	Cancelled       = "a limit that somebody cancelled since"
	LatePaper       = "a paper request that arrived late"
	BrokenDisk      = "an exit beside a broken disk"
	Paused          = "a program that stopped between its last check and its first byte"
)

// Exceptions are all of them, each with the words by which README.md and docs/outcomes.md
// say it where they say what no client can promise.
func Exceptions() map[string]string {
	return map[string]string{
		FailedAfterWork: "5xx after the work whose answer is lost",
		LateProbe:       "held up on its way for minutes",
		Outlived:        "outlives its claim",
		LateRequest:     "arrives half an hour late",
		Jumped:          "clocks that jump",
		Forgotten:       "the service has forgotten",
		Unstored:        "a 5xx that it does not store",
		Repeated:        "repeats requests",
		InItsWords:      "in the service's words",
		Cancelled:       "has cancelled since",
		LatePaper:       "a paper request that arrives late",
		BrokenDisk:      "an exit while the journal cannot be written",
		Paused:          "stopped between its last check and its first byte",
	}
}
