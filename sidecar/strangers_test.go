package sidecar

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/strangers"
)

// Whatever strangers do with the port, a bot gets out.
func TestFound16_StrangersOnThePort(t *testing.T) {
	r, address, _ := hostile(t)
	strangers.Run(t, strangers.Listener{
		Address: address, Path: "/v1/positions/close", Wrong: "X-API-Key: pk_live_local_wrong", Most: mostStrangers,
		Asks: func() (*http.Request, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/positions/close", strings.NewReader(closeBTC))
			if err == nil {
				request.Header.Set("X-API-Key", r.live)
			}
			return request, err
		},
		Want: http.StatusNotFound, // the service's own: there is no position
	})
}
