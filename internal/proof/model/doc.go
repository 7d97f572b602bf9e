// Package model searches the protocol of writes for a schedule that breaks it: a
// service as the contract allows it to be, a network that loses and delays, programs
// that crash, and every combination of so many accidents. The programs do what
// internal/ledger says; everything else is written from the contract and shares no code
// with the client. Outside its tests it holds
// the list of what no client can promise, for the other searches; no code of the client imports it.
//
// README.md says what was searched and what was found.
package model
