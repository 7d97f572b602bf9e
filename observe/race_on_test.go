//go:build race

package observe

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
