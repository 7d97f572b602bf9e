// Package exchange keeps recorded exchanges: one request and its answer as they
// cross the wire, one file a case, in testdata/exchanges.
//
// [Recorder] takes them down, [Normalize] makes them independent of when, where
// and with whose keys they were recorded, [Serve] answers from them and accepts
// nothing but the very request, and [Drift] compares them with what a service
// answers today.
//
// The package knows neither the client nor the simulation: its tests join them.
// The answers are the simulation's, which is written from the service's
// reference, so that a misreading in the client shows against them.
package exchange
