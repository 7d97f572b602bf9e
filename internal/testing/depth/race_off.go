//go:build !race

package depth

// Race reports whether the tests run under the race detector.
const Race = false
