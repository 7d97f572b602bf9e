package tradingsim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go/tradingsim/internal/schema"
)

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
