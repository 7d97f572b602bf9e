package ledger

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// FuzzFact takes a line of a journal for a fact: what is read is written and read
// again the same, and any such fact can be noted.
func FuzzFact(f *testing.F) {
	jsontext.Add[[]byte](f, 300, jsontext.Spoiled(2, jsontext.Of(
		`{"k":1,"t":[1767323045000,0,0]}`,
		`{"k":2,"t":[1767323045000,1200,1767323045000],"a":{"c":4,"e":"account_locked","s":403,"r":true,"o":2}}`,
		`{"k":14,"t":[0,5000,0],"a":{"c":4,"e":"internal_error","s":500},"n":1}`,
		`{"k":14,"t":[0,5000,0],"a":{"c":3},"n":-9223372036854775808}`,
		`{"k":10,"t":[0,5,0],"v":{"e":true,"o":1}}`,
		`{"k":1,"t":[0,-1,0]}`,
		`{"k":1,"t":[0,9223372036854775807,0]}`,
		`{"k":255,"t":[]}`,
	)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var fact, again Fact
		if json.Unmarshal(text, &fact) != nil {
			return
		}
		written, err := json.Marshal(fact)
		require.NoError(t, err)
		if err := json.Unmarshal(written, &again); err != nil || again != fact {
			t.Fatalf("%s: %+v became %+v: %v", written, fact, again, err)
		}
		l := Restore(market(), []Fact{fact}, at(0))
		l.Next(at(0), Limits{})
	})
}
