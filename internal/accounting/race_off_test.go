//go:build !race

package accounting

const raceDetector = false
