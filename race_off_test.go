//go:build !race

package trading_test

const raceDetector = false
