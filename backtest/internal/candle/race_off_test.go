//go:build !race

package candle

const raceDetector = false
