package control

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever a body is, it is done or refused with a reason: nothing panics, and nothing is
// an error of the server. A clock that is moved far is the one thing that takes long.
func FuzzBodies(f *testing.F) {
	var targets []route
	for _, r := range routes {
		if r.method != http.MethodGet && r.path != "/session" {
			targets = append(targets, r)
		}
	}
	d := into[described](f, description)
	for i, r := range targets {
		o := d.Paths[r.path][map[string]string{"PUT": "put", "POST": "post", "DELETE": "delete"}[r.method]]
		if o.RequestBody == nil {
			continue
		}
		for _, e := range o.RequestBody.Content["application/json"].Examples {
			f.Add(uint8(i), "BTC", []byte(e.Value))
			f.Add(uint8(i), "acc_1", []byte(e.Value))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, name string, body []byte) {
		target := targets[int(which)%len(targets)]
		if target.path == "/clock" || target.path == "/clock/advance" {
			return // TestBadInput
		}
		r := newRig(t)
		path := target.path
		switch path {
		case "/marks/{symbol}":
			path = "/marks/" + url.PathEscape(name)
		case "/markets/{symbol}":
			path = "/markets/" + url.PathEscape(name)
		case "/accounts/{id}":
			path = "/accounts/" + url.PathEscape(name)
		}
		w := r.send(target.method, path, string(body))
		require.Less(t, w.Code, 500, w.Body.String())
		if w.Code >= 400 && w.Header().Get("Content-Type") == "application/json" {
			require.NotEmpty(t, messageOf(w.Body.Bytes()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // a fault may hold it for ever
		defer cancel()
		_ = r.orderWithin(ctx, buyBTC)
		r.sim.State()
	})
}
