// Package sidecar is one process that speaks the service's own API to the bots of one
// machine, in any language, and carries it out through this client. A bot changes its base
// URL and its key, and nothing else; then every order happens once or not at all for it
// too, and it is said which.
//
//	server, err := sidecar.New(sidecar.Config{
//		BaseURL: "https://…/v1",
//		Options: []trading.Option{trading.WithLiveKey(key)},
//		Journal: writes,            // of package journal
//		Dir:     "/var/lib/sidecar", // local keys, and what bots have not heard
//	})
//	…
//	err = server.Serve(listener)
//
// # Answers
//
// The service's answers pass byte for byte: status, body, and the headers Content-Type,
// Date, Retry-After, X-RateLimit-* and Idempotent-Replayed. What the sidecar says by itself
// has the header Trading-Sidecar. Every answer to a write has Trading-Outcome, which is
// applied, not-applied or unknown, and Trading-Write, which names the write.
//
// # A bot that did not hear
//
// An entry that was executed, or may have been, and whose outcome its bot has not heard
// holds its market: the same key, or the same bytes without a key, get its answer; another
// entry is refused until the bot has read its account. Package sidecar/internal/hearing
// has the rules.
package sidecar
