package seen

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// service is a simulated service with something that breaks an assumption in front.
type service func(sim http.RoundTripper) http.RoundTripper

// keysOf is a service that keeps the keys of some requests apart, by a text that is added.
func keysOf(apart func(r *http.Request) string) service {
	return func(sim http.RoundTripper) http.RoundTripper {
		return rig.Way(func(r *http.Request) (*http.Response, error) {
			add := apart(r)
			r = r.Clone(r.Context())
			for name, key := range r.Header { // the client's is not in canonical form
				if strings.EqualFold(name, "Idempotency-Key") {
					r.Header[name] = []string{key[0] + add}
				}
			}
			return sim.RoundTrip(r)
		})
	}
}

// changed is a service some of whose answers are other ones.
func changed(change func(r *http.Request, status int, body string) (int, string)) service {
	return func(sim http.RoundTripper) http.RoundTripper {
		return rig.Way(func(r *http.Request) (*http.Response, error) {
			resp, err := sim.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				return nil, err
			}
			_ = resp.Body.Close()
			status, text := change(r, resp.StatusCode, string(body))
			resp.StatusCode, resp.Status, resp.ContentLength = status, http.StatusText(status), int64(len(text))
			resp.Header.Del("Content-Length")
			resp.Body = io.NopCloser(bytes.NewReader([]byte(text)))
			return resp, nil
		})
	}
}

// eachApart keeps the key of each request of an order to itself: nothing is stored.
func eachApart() service {
	n := 0
	return keysOf(func(r *http.Request) string {
		if !isOrder(r) {
			return ""
		}
		n++
		return fmt.Sprintf("-%d", n)
	})
}

// ordersApart keeps the keys of orders apart from those of all else, as only some routes do.
func ordersApart() service {
	return keysOf(func(r *http.Request) string {
		if isOrder(r) {
			return "-orders"
		}
		return ""
	})
}

func isOrder(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/orders")
}

func is(r *http.Request, path string) bool { return strings.HasSuffix(r.URL.Path, path) }
