// Package depth says how far the tests that search go.
package depth

import "os"

// Full reports whether they go as far as .ci/run has them go:
//
//	TESTS=full go test ./backtest
//
// Elsewhere a sample is enough, and under the race detector always.
func Full() bool { return !Race && os.Getenv("TESTS") == "full" }

// Of is how much of something there is in a sample, or in full.
func Of[T any](sample, full T) T {
	if Full() {
		return full
	}
	return sample
}
