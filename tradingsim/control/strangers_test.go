package control

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/testing/strangers"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Whatever strangers do with the port of the page, who has the token is served.
func TestFound16_StrangersOfThePage(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan Endpoint, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, tradingsim.New(), Options{Ready: func(at Endpoint) { ready <- at }})
	}()
	defer func() {
		stop()
		assert.NoError(t, <-ended)
	}()
	at := <-ready
	address, _, _ := strings.Cut(strings.TrimPrefix(at.URL, "http://"), "/")
	strangers.Run(t, strangers.Listener{
		Address: address, Path: root + "/state", Wrong: "Authorization: Bearer wrong", Most: mostStrangers,
		Asks: func() (*http.Request, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL+"/state", http.NoBody)
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+at.Token)
			}
			return request, err
		},
		Want: http.StatusOK,
	})
}
