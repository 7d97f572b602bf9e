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
// Durations are in seconds. Attributes are those of the list in attributes.go and no
// others: no key, no body, no message and no text of an error. Metrics have neither
// account nor symbol, and of refusals only the codes that the client knows, so that
// nothing from outside can multiply their series.
//
// A write whose caller left while it was under way has an attempt that ends after its
// parent.
package tradingotel
