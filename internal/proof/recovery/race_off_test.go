//go:build !race

package recovery

const raceDetector = false
