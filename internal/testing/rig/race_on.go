//go:build race

package rig

// RaceDetector is true where everything takes several times as long.
const RaceDetector = true
