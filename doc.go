// Package trading is a client for a perpetual-futures trading API with two
// environments, sandbox and live.
package trading
