//go:build race

package limiter

// raceDetector tells that everything takes several times as long.
const raceDetector = true
