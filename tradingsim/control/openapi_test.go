package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim/internal/schema"
)

type content map[string]struct {
	Schema   *schema.Schema `json:"schema"`
	Examples map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"examples"`
}

type described struct {
	Paths map[string]map[string]struct {
		RequestBody *struct {
			Content content `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Ref     string  `json:"$ref"`
			Content content `json:"content"`
		} `json:"responses"`
		Parameters []struct {
			Name    string `json:"name"`
			In      string `json:"in"`
			Example any    `json:"example"`
		} `json:"parameters"`
		Security *[]any `json:"security"`
	} `json:"paths"`
	Components struct {
		Schemas   map[string]*schema.Schema `json:"schemas"`
		Responses map[string]struct {
			Content content `json:"content"`
		} `json:"responses"`
	} `json:"components"`
}

// check holds a value against a schema: an object has nothing that is not described.
func (d described) check(of *schema.Schema, v any) error {
	return schema.Set{Schemas: d.Components.Schemas, Closed: true}.Check("body", v, of)
}

// The description has the routes that there are, and no others.
func TestTheDescriptionHasEachRoute(t *testing.T) {
	d := into[described](t, description)
	var described, served []string
	for path, item := range d.Paths {
		for method, o := range item {
			described = append(described, fmt.Sprintf("%s %s open=%v", strings.ToUpper(method), path, o.Security != nil))
		}
	}
	for _, r := range routes {
		served = append(served, fmt.Sprintf("%s %s open=%v", r.method, r.path, r.open))
	}
	require.ElementsMatch(t, described, served)
}

// Each operation takes the example of the description, and gives an answer that the
// description has.
func TestTheDescriptionIsTrue(t *testing.T) {
	d := into[described](t, description)
	for _, route := range routes {
		if route.path == "/events" {
			continue // TestAStreamResumes
		}
		t.Run(route.method+" "+route.path, func(t *testing.T) {
			r := newRig(t)
			require.NoError(t, r.order(buyBTC))
			r.sim.Fault("GET /health", kinds[0].make(faultBody{}, 0))
			r.feed.show(Write{ID: "1", Outcome: "sending"})
			o := d.Paths[route.path][strings.ToLower(route.method)]
			path, body := route.path, ""
			for _, p := range o.Parameters {
				if p.In == "path" {
					path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
				}
			}
			if o.RequestBody != nil {
				c := o.RequestBody.Content["application/json"]
				require.NotEmpty(t, c.Examples)
				for _, e := range c.Examples {
					body = string(e.Value)
				}
				require.NoError(t, d.check(c.Schema, into[any](t, []byte(body))))
			}
			if route.path == "/session" {
				body = `{"token":"` + testToken + `"}`
			}
			w := r.send(route.method, path, body)
			success, ok := o.Responses[fmt.Sprint(w.Code)]
			require.True(t, ok, "%d is not described: %s", w.Code, w.Body)
			require.Less(t, w.Code, 300, w.Body.String())
			if c, ok := success.Content["application/json"]; ok && route.path != "/openapi.json" {
				assert.NoError(t, d.check(c.Schema, into[any](t, w.Body.Bytes())))
				for _, e := range c.Examples {
					assert.NoError(t, d.check(c.Schema, into[any](t, e.Value)))
				}
			}
		})
	}
}

// Each refusal that every route can give is described at every route.
func TestTheDescriptionHasEachRefusal(t *testing.T) {
	d := into[described](t, description)
	r := newRig(t)
	for _, route := range routes {
		path := strings.NewReplacer("{symbol}", "BTC", "{id}", "acc_1").Replace(route.path)
		o := d.Paths[route.path][strings.ToLower(route.method)]
		writes := route.method != http.MethodGet
		for name, c := range map[string]struct {
			applies bool
			body    string
			headers []string
		}{
			"another host":   {true, "", []string{"Host", "evil.example"}},
			"no token":       {!route.open, "", []string{"Authorization", ""}},
			"another origin": {writes, "", []string{"Origin", "http://evil.example"}},
			"no JSON":        {o.RequestBody != nil, "x", []string{"Content-Type", "text/plain"}},
			"no object":      {o.RequestBody != nil, "[]", nil},
			"too long":       {o.RequestBody != nil, strings.Repeat(" ", maxBody+1), nil},
		} {
			if !c.applies {
				continue
			}
			w := r.send(route.method, path, c.body, c.headers...)
			response, ok := o.Responses[fmt.Sprint(w.Code)]
			require.GreaterOrEqual(t, w.Code, 400)
			if assert.True(t, ok, "%s %s, %s: %d is not described", route.method, route.path, name, w.Code) {
				refusal := d.Components.Responses[schema.Last(response.Ref)]
				assert.NoError(t, d.check(refusal.Content["application/json"].Schema, into[any](t, w.Body.Bytes())))
			}
		}
	}
	require.NotEmpty(t, slices.Collect(maps.Keys(d.Components.Responses)))
}
