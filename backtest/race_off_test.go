//go:build !race

package backtest

const raceDetector = false
