package tradingsim_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/strangers"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Whatever strangers do with the port of a simulation, who has a key is served.
func TestFound16_StrangersOfASimulation(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithAuthLimit(1<<20)) // the service's own bound is another matter
	strangers.Run(t, strangers.Listener{
		Address: strings.TrimSuffix(strings.TrimPrefix(sim.URL(), "http://"), "/v1"),
		Path:    "/v1/me", Wrong: "X-API-Key: pk_live_wrong", Most: 256,
		Asks: func() (*http.Request, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sim.URL()+"/me", http.NoBody)
			if err == nil {
				request.Header.Set("X-API-Key", sim.LiveKey())
			}
			return request, err
		},
		Want: http.StatusOK,
	})
}
