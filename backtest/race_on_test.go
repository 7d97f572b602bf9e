//go:build race

package backtest

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
