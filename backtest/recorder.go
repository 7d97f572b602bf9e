package backtest

import (
	"net/http"
)

type recorder struct {
	next http.RoundTripper
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) { return r.next.RoundTrip(q) }
