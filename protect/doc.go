// Package protect keeps an account from being lost by accident.
package protect
