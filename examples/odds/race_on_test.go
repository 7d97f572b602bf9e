//go:build race

package main

// raceDetector reports that everything takes several times as long.
const raceDetector = true
