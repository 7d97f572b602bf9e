// Package transport sends one request and returns how that ended: a whole answer, or
// why there is none and whether any of the request may have left.
//
// It knows HTTP and nothing of the service.
package transport
