// Package values tests the values of the client: numbers, levels, marks, records.
package values
