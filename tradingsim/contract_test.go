package tradingsim

import (
	"encoding/json"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contract is what these tests read of openapi.json.
type contract struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

func TestEveryOperationOfTheContractIsServed(t *testing.T) {
	var c contract
	require.NoError(t, json.Unmarshal(description, &c))
	var want, have []string
	for path, item := range c.Paths {
		for method := range item {
			if m := strings.ToUpper(method); m == "GET" || m == "POST" {
				want = append(want, m+" "+path)
			}
		}
	}
	for name := range operations {
		if name != "GET /openapi.json" { // describes the others
			have = append(have, name)
		}
	}
	sort.Strings(want)
	sort.Strings(have)
	require.Equal(t, want, have)
	require.Len(t, want, 31)
}

func TestTheEmbeddedContractIsTheContract(t *testing.T) {
	spec, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	require.True(t, string(spec) == string(description), "run go generate ./tradingsim")
}
