package cli

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

// A quotient has sixteen decimals and more, which no person reads. None becomes zero.
func TestShort(t *testing.T) {
	for number, want := range map[string]string{
		"63866.978235445058361972888": "63866.97823545",
		"0.05":                        "0.05",
		"-0.123456789":                "-0.12345679",
		"0.000000000012":              "0.000000000012",
		"0":                           "0",
	} {
		assert.Equal(t, want, Short(decimal.RequireFromString(number)))
	}
}
