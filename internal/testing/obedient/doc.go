// Package obedient has a bot that does what the pages say, and nothing else: the steps that
// docs/errors.md has for what [trading.AdviceOf] returns, and what README.md has for the outcome.
// Searches run it under their faults: crash, recovery and soak through the client, kills behind a sidecar.
//
//	go test ./internal/proof/crash -run Obedient -obedient.n 100000 -timeout 1h
package obedient
