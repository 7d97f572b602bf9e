// Package limits holds the client against the limits of the service: its own count, and the answers 429.
package limits
