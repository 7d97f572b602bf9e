// Package model proves the protocol of live writes by exhaustive search: one
// intent, a service that forgets and fails, a network that delays and loses, a
// program that crashes, an account that others may trade, and every order of
// events up to a bound. It shares no code with the client, holds no code of its
// own outside its tests, and is imported by nothing.
//
// README.md states the protocol as tables, to be followed literally, and what the
// search found.
package model
