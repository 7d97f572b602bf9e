//go:build race

package recovery

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
