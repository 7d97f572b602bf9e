//go:build !race

package observe

const raceDetector = false
