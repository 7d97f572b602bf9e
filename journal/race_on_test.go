//go:build race

package journal

// raceDetector tells that everything takes several times as long.
const raceDetector = true
