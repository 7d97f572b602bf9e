// Package mutants runs bots behind a sidecar that do what doubles orders on the service itself:
// they ask again without a key, give up after 300 ms, take a new key after an error, close half of
// their connection, keep none, leave it to a library, decide again at once, and ask for equal
// things one after the other that are each meant. The service fails in one of ten requests,
// in every way that the simulator has.
// A person acknowledges what cannot be found out.
//
//	go test ./sidecar/internal/mutants                          # two rounds of each bot, seconds
//	go test ./sidecar/internal/mutants -mutants.rounds 100 -v   # as many
package mutants
