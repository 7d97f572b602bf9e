//go:build race

package soak

// raceDetector is true where everything takes about ten times as long.
const raceDetector = true
