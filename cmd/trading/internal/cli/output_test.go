package cli

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// What the network sends is no command to a terminal, in any form of output: JSON has it as numbers.
func TestFound21_ControlsInJSON(t *testing.T) {
	const text = "a\u009b31m\u007f\u202e\U000e0001\x1b]0;x\x07é\n"
	var out bytes.Buffer
	app := &App{Out: &out}
	require.NoError(t, (&Output{app: app, format: "json"}).Print(map[string]any{"text": text, "raw": json.RawMessage(`"` + "\u009b" + `"`)}, nil))
	for _, r := range out.String() {
		assert.True(t, r == '\n' || strconv.IsPrint(r), "%q is printed as it is", r)
	}
	assert.Contains(t, out.String(), "é")
	var back map[string]string
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	assert.Equal(t, map[string]string{"text": text, "raw": "\u009b"}, back)
}
