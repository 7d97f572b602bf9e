//go:build race

package odds

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
