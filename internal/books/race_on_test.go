//go:build race

package books

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
