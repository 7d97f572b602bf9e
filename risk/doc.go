// Package risk works out what an order would do before it is sent.
package risk
