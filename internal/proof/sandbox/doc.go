// Package sandbox tests the rules of the paper account, and its traps.
package sandbox
