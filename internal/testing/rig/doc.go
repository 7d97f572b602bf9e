// Package rig joins a client to a simulated service for the suites beside it: orders, faults,
// restarts on a journal that outlives the client, and what the service has seen of them. Each client is held to
// its word when its test ends: see [Oracle] and [Hears].
package rig
