//go:build !race

package odds

const raceDetector = false
