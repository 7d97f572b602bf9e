package loopback

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": false, "localhost.": false, "127.0.0.1": true, "127.9.9.9": true,
		"::1": true, "0:0:0:0:0:0:0:1": true, "::ffff:127.0.0.1": true,
		"": false, ".": false, "localhost..": false, "localhost.example.test": false, "x.localhost": false, "127.0.0.1.example.test": false,
		"127.1": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::1%lo": false,
	} {
		assert.Equal(t, want, Is(host), host)
	}
}

// What is this machine by its name is none that net/http sends through a proxy.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example.test:3128")
	for _, host := range []string{"LOCALHOST", "localhost.", "localhost"} {
		through, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "http", Host: Name(host)}})
		require.NoError(t, err)
		assert.Nil(t, through, host)
		assert.True(t, Is(Name(host)), host)
	}
}

// No connection is given the port of a program that is down.
func TestPort(t *testing.T) {
	first, end := ports(readRange())
	for range 100 {
		port, err := Port()
		require.NoError(t, err)
		assert.GreaterOrEqual(t, port, first)
		assert.Less(t, port, end)
	}
}

// A machine says which ports it gives to connections, and not every one says Linux's own.
func TestPortsOfAMachine(t *testing.T) {
	for of, want := range map[string][2]int{
		"32768\t60999\n": {10_000, 32_768},
		"":               {10_000, 32_768},
		"no range":       {10_000, 32_768},
		"9000":           {10_000, 32_768},
		"16000 65535":    {10_000, 16_000},
		"1024 50000":     {50_001, 65_536},
		"12000 30000":    {30_001, 65_536},
		"1024 65535":     {10_000, 65_536}, // none is left
		"10500 65000":    {10_000, 65_536},
	} {
		first, end := ports(of)
		assert.Equal(t, want, [2]int{first, end}, of)
	}
}
