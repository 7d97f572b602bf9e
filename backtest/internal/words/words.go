// Package words counts things in sentences.
package words

import "strconv"

// Count is such as "1 day" and "3 days".
func Count(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return strconv.Itoa(n) + " " + one
}

// Are is such as "1 day is" and "3 days are".
func Are(n int, one string) string {
	if n == 1 {
		return Count(n, one) + " is"
	}
	return Count(n, one) + " are"
}
