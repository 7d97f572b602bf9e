//go:build race

package trading_test

// raceDetector tells that everything takes several times as long.
const raceDetector = true
