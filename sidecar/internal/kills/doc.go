// Package kills kills real processes: a sidecar, a bot behind it, or both, with SIGKILL, at each
// step of an order and between them, also between the answer and its delivery. The ledger of the
// simulated service says then whether the order ran once, and whether the bot knows it.
//
//	go test ./sidecar/internal/kills                                  # a run of each place, seconds
//	go test ./sidecar/internal/kills -kills.n 2000 -timeout 2h        # as many runs
//	go test ./sidecar/internal/kills -kills.from SEED -kills.n 1 -v   # one of them again
//
// TestKillsOfCallsLeftRunning has bots of five clients (Python's urllib and requests, fetch, curl, Go)
// whose time-out ends no call:
//
//	go test ./sidecar/internal/kills -run LeftRunning -kills.left 2000 -timeout 2h
//
// TestStops stops them instead, with SIGSTOP, for longer than a bot waits or a sidecar does:
//
//	go test ./sidecar/internal/kills -run Stops -kills.stops 200 -timeout 1h
package kills
