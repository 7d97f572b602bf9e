package journal

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestService(t *testing.T) {
	for spelled, want := range map[string]string{
		"https://API.test:443/v1/":     "https://api.test/v1",
		"https://api.test./v1":         "https://api.test/v1",
		"https://api.test:0443/v1":     "https://api.test/v1",
		"https://api.test:/v1":         "https://api.test/v1",
		"https://api.test:08443/v1":    "https://api.test:8443/v1",
		"http://[0:0:0:0:0:0:0:1]/v1":  "http://[::1]/v1",
		"http://[::ffff:127.0.0.1]/v1": "http://127.0.0.1/v1",
		"http://LOCALHOST./v1":         "http://127.0.0.1/v1",
		"https://api.test:8443/v1":     "https://api.test:8443/v1",
		"http://localhost:80/v1":       "http://127.0.0.1/v1",
		"http://localhost:8080/v1":     "http://127.0.0.1:8080/v1",
		"http://[::1]/v1":              "http://[::1]/v1",
		"http://[::1]:8080/v1":         "http://[::1]:8080/v1",
		"http://sim.internal:80/v1":    "http://sim.internal/v1",
		"HTTPS://api.test/v1//":        "https://api.test/v1",
	} {
		base, err := url.Parse(spelled)
		require.NoError(t, err, spelled)
		assert.Equal(t, want, Service(base), spelled)
	}
}
