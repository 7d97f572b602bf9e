//go:build !linux && !darwin

package main

// noCore does nothing where there are no such files.
func noCore() {}
