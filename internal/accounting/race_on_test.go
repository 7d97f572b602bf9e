//go:build race

package accounting

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
