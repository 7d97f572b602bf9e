package trial

// The judgements.
const (
	BlindResend    = "blind resend"    // an entry under a new key while the outcome of its like is not known
	Exposure       = "exposure"        // more is held than declared
	UnhealthyEntry = "unhealthy entry" // an entry into a service that is not healthy
	LockedEntry    = "locked entry"    // entries after the service has said that the account takes none
	RetryAfter     = "Retry-After"     // requests before the wait is over that a 429 has named
	NoStop         = "no stop"         // a position without a stop
	Restart        = "restart"         // an entry after a restart, before the positions were read
	Zero           = "zero"            // a price computed from a missing mark
	KeyReuse       = "key reuse"       // an entry under the key of another request
	Storm          = "storm"           // more entries in a period than declared
)

// judgements are all, in their order.
var judgements = []struct {
	name     string
	contract string // the sentence that it stands on
	lacks    string // what there was not, where it was not exercised
	change   string // what to change then
	// watch returns what sees every moment of a run in its order, after the world has, and then
	// a moment of the kind ended.
	watch func(t *tally) func(w *world, p point)
}{
	{BlindResend, "Idempotency 3: resending with the same key and same request returns the first response unchanged; nothing is placed twice.",
		"no entry was left with an unknown outcome, or nothing came after it", "let the bot enter more often, or declare a longer period", blindResend},
	{Exposure, "Manifest: markets.most and dollars are the most that the bot may hold.",
		"no limit is declared, or nothing was held for two periods", "declare most of each market, or dollars", exposure},
	{UnhealthyEntry, "GET /health: degraded is hold off, unavailable is do not trade; the assessment is cached for 5 seconds.",
		"the bot was not flat while the service was unhealthy, or did not enter before and after", "let the bot enter again once it is flat, or declare a longer period", unhealthyEntry},
	{LockedEntry, "403 account_locked: account failed or expired, or passed and the order would add exposure; new exposure is refused.",
		"no account was locked for long enough while the bot was flat", "let the bot enter again once it is flat, or declare a longer period", lockedEntry},
	{RetryAfter, "429 rate_limited: back off for Retry-After.",
		"no limit was met, or the bot sent nothing in its scope afterwards", "let the bot send more often, or declare a longer period", retryAfter},
	{NoStop, "Manifest: stopWithin is how soon an open position has a stop.",
		"no stops are declared, or no position was open for long enough", "declare stopWithin", noStop},
	{Restart, "Idempotency 3 and live reads: what an earlier run has done shows in GET /positions.",
		"the bot was not killed with a position open, or did not live long enough afterwards", "let the bot hold a position for longer than its period", restart},
	{Zero, "A missing mark is never zero.",
		"the bot read no missing mark while it was flat, or did not enter before and after", "let the bot read its mark before it enters", zero},
	{KeyReuse, "422 idempotency_key_reused: key already used for a different request.", "no two different entries had a key", "send an Idempotency-Key, or declare a longer period", keyReuse},
	{Storm, "Rate limits: 150 live orders a minute of each class, shared by the terminal and all the user's keys.", "no entry was sent", "let the bot enter", storm},
}

// Judgements are the names of all, in their order.
func Judgements() (names []string) {
	for _, j := range judgements {
		names = append(names, j.name)
	}
	return names
}
