//go:build race

package depth

// Race is true under the race detector, where everything takes several times as long.
const Race = true
