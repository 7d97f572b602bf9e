// Package client shows what every call of the client does: options, checks, hooks, errors, documents, and the
// traps of the API, each with the tests that show it.
package client
