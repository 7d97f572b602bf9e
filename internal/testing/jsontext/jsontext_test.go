package jsontext

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is made is JSON, and what is spoiled often is none.
func TestTexts(t *testing.T) {
	for _, text := range []func(*rand.Rand) []byte{Number, String, Value(3, "ok", "error"), Of("{}", "[1]")} {
		wrong := 0
		for dice := range Dice(1000) {
			made := text(dice)
			require.True(t, json.Valid(made), "%q", made)
			if !json.Valid(Spoiled(2, text)(dice)) {
				wrong++
			}
		}
		require.Greater(t, wrong, 100)
		require.Less(t, wrong, 600)
	}
}
