// Package browser tests the console page of the simulator in a browser without a window.
// It is a module of its own, so that nobody else depends on what drives the browser.
package browser
