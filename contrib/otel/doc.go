// Package tradingotel reports to OpenTelemetry what a trading client does.
//
//	hooks, err := tradingotel.New(tradingotel.Config{})
//	client, err := trading.New(baseURL, trading.WithHooks(hooks))
//
// Each call is a span, named by its operation, with a child for each attempt and an
// event for each wait. The metrics are:
//
//	trading.calls             calls that have ended
//	trading.call.duration     how long they took, waits included
//	trading.attempts          sends that have ended
//	trading.attempt.duration  how long they took
//	trading.wait.duration     how long calls expected to wait, by reason
//	trading.outcomes          writes that have ended, by what is known of them
//	trading.resolutions       writes in doubt, by what they were found to have come to
//
// [Observe] reports the state of a bot beside them, and [Journal] measures the appends of its
// journal:
//
//	trading.pending.writes, .age      what is not known yet, and how old the oldest of it is
//	trading.halted                    1 while entries are refused
//	trading.ratelimit.left, .closed   the rate limits
//	trading.floor.room, .need, .age   the room above the loss floors, as package protect has it
//	trading.lease.left, .taken        the lease of a journal in a database
//	trading.journal.append.duration   how long durable appends took
//
// The folder prometheus has alerts and a dashboard over them. Durations are in seconds.
//
// Attributes are those of the list in attributes.go and no others: no key, no body, no message
// and no text of an error. Metrics have no symbol, no account but beside its floor where
// [Config].Account asks for it, and of refusals only the codes that the client knows, so that
// nothing from outside can multiply their series.
//
// A write whose caller left while it was under way has an attempt that ends after its
// parent.
package tradingotel
