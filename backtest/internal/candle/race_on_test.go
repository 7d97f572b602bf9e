//go:build race

package candle

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
