//go:build race

package risk_test

// raceDetector tells that everything takes several times as long.
const raceDetector = true
