package tradingsim_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/internal/schema"
)

// wholeRun tells whether nothing chose among the tests.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}

// missingCodes names the codes that a rule of the simulation leads to, and no test has seen.
func missingCodes() (status int) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	var rules strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".gen.go") || file == "health.go" {
			continue // the statuses of health are no codes
		}
		source, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		rules.Write(source)
	}
	for _, code := range theContract().codes() {
		if _, ok := produced.Load(code); !ok && strings.Contains(rules.String(), `"`+code+`"`) {
			fmt.Println("no test of tradingsim produces", code, "which a rule of its leads to")
			status = 1
		}
	}
	return status
}

func TestEveryOperationOfTheContractIsServed(t *testing.T) {
	sim := tradingsim.New()
	served := map[string]bool{"GET /openapi.json": true}
	for path, item := range theContract().Paths {
		for method := range item {
			method = strings.ToUpper(method)
			if method != "GET" && method != "POST" {
				continue
			}
			served[method+" "+path] = true
			require.Contains(t, tradingsim.Operations(), method+" "+path, "add its row to tradingsim/routes.go")
			b := sandboxBot(t, sim)
			if !strings.HasPrefix(path, "/sandbox") {
				b.key = sim.LiveKey()
			}
			g := b.send(method, strings.ReplaceAll(path, "{accountId}", "acc_1"), "")
			require.False(t, g.Status == 404 && g.text("error") == "not_found", "%s %s", method, path)
		}
	}
	for _, name := range tradingsim.Operations() {
		require.Contains(t, served, name, "tradingsim/routes.go has a row that the contract does not")
	}
}

func TestTheServedContractIsTheContract(t *testing.T) {
	spec, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	b := sandboxBot(t, tradingsim.New())
	b.key = "" // it needs none
	served := b.get("/openapi.json").ok().Text
	require.True(t, string(spec) == served, "run go generate ./tradingsim")
}

// response is a response of the contract, or a reference to one.
type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema   *schema.Schema     `json:"schema"`
		Examples map[string]example `json:"examples"`
	} `json:"content"`
}

// example is one of a code, or a reference to one.
type example struct {
	Ref   string `json:"$ref"`
	Value struct {
		Error string `json:"error"`
	} `json:"value"`
}

type contract struct {
	Paths map[string]map[string]struct {
		Responses map[string]response `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas   map[string]*schema.Schema `json:"schemas"`
		Responses map[string]response       `json:"responses"`
		Examples  map[string]example        `json:"examples"`
	} `json:"components"`
}

// theContract is read from the file that all parts of the project share, not
// from the copy that the simulation serves.
var theContract = sync.OnceValue(func() *contract {
	text, err := os.ReadFile("../openapi.json")
	if err != nil {
		panic(err)
	}
	var c contract
	if err := json.Unmarshal(text, &c); err != nil {
		panic(err)
	}
	return &c
})

// find is the contract's response to an operation, such as "GET /me".
func (c *contract) find(operation string, status int) (response, bool) {
	method, path, _ := strings.Cut(operation, " ")
	responses := c.Paths[path][strings.ToLower(method)].Responses
	r, ok := responses[strconv.Itoa(status)]
	if !ok {
		r, ok = responses[fmt.Sprintf("%dXX", status/100)]
	}
	if r.Ref != "" {
		r = c.Components.Responses[schema.Last(r.Ref)]
	}
	return r, ok
}

// check names what is wrong with a value, or nothing.
func (c *contract) check(v any, of *schema.Schema) error {
	return schema.Set{Schemas: c.Components.Schemas}.Check("body", v, of)
}

// codes are the codes that the contract documents, in examples of refusals.
func (c *contract) codes() []string {
	all := map[string]bool{}
	for _, item := range c.Paths {
		for _, operation := range item {
			for _, r := range operation.Responses {
				if r.Ref != "" {
					r = c.Components.Responses[schema.Last(r.Ref)]
				}
				for _, e := range r.Content["application/json"].Examples {
					if e.Ref != "" {
						e = c.Components.Examples[schema.Last(e.Ref)]
					}
					all[e.Value.Error] = true
				}
			}
		}
	}
	delete(all, "") // examples of successes
	return slices.Sorted(maps.Keys(all))
}
