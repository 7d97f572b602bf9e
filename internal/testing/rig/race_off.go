//go:build !race

package rig

// RaceDetector reports whether the tests run under it.
const RaceDetector = false
