//go:build !race

package books

const raceDetector = false
