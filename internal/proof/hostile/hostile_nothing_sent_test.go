package hostile

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/tradingsim"
)

// certify returns a certificate for a host that signs itself, and who trusts it.
func certify(t *testing.T, host string, expires time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: host},
		NotBefore:    expires.Add(-24 * time.Hour),
		NotAfter:     expires,
		IsCA:         true, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	trust := x509.NewCertPool()
	trust.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, trust
}

// resolverAt asks one resolver whatever it is asked to ask.
func resolverAt(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", address)
	}
}

// Where no connection to the service comes about, nothing was sent, and the client
// knows: no key left, no order did, and none is in doubt.
func TestNothingIsSentWithoutAConnection(t *testing.T) {
	tomorrow, yesterday := time.Now().Add(24*time.Hour), time.Now().Add(-24*time.Hour)
	serve := func(t *testing.T, sim *tradingsim.Sim, host string, expires time.Time) (*faultproxy.Proxy, *x509.CertPool) {
		certificate, trust := certify(t, host, expires)
		return faultproxy.StartTLS(t, sim, &tls.Config{Certificates: []tls.Certificate{certificate}}), trust
	}
	trusting := func(trust *x509.CertPool) *http.Transport {
		pool := transport.NewPool()
		pool.TLSClientConfig = &tls.Config{RootCAs: trust}
		return pool
	}
	// via goes through a proxy that answers CONNECT by a text.
	via := func(t *testing.T, answer faultproxy.Fault) *http.Transport {
		proxy := faultproxy.Start(t, http.NotFoundHandler())
		proxy.Rest(answer)
		address, err := url.Parse(proxy.URL())
		require.NoError(t, err)
		pool := transport.NewPool()
		pool.Proxy = http.ProxyURL(address)
		t.Cleanup(func() {
			for _, request := range proxy.Requests() {
				assert.Equal(t, "CONNECT ", request.Operation[:8])
				assert.NotContains(t, request.Header, "X-Api-Key")
			}
		})
		return pool
	}
	const elsewhere = "https://service.test/v1"
	// named asks a resolver on loopback, which answers what it is told to.
	named := func(t *testing.T, answer func(query []byte) []byte) *http.Transport {
		resolver, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		served := make(chan struct{})
		go func() {
			defer close(served)
			for buffer := make([]byte, 1500); ; {
				n, from, err := resolver.ReadFromUDP(buffer)
				if err != nil {
					return
				}
				if reply := answer(buffer[:n]); reply != nil {
					_, _ = resolver.WriteToUDP(reply, from)
				}
			}
		}()
		t.Cleanup(func() { _ = resolver.Close(); <-served })
		pool := transport.NewPool()
		dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
		dialer.Resolver.Dial = resolverAt(resolver.LocalAddr().String())
		pool.DialContext = dialer.DialContext
		return pool
	}
	code := func(rcode byte) func([]byte) []byte {
		return func(query []byte) []byte {
			reply := append([]byte(nil), query...)
			reply[2], reply[3] = 0x81, 0x80|rcode
			return reply
		}
	}
	for _, row := range []struct {
		name  string
		stall bool
		says  string // is in the error
		start func(*testing.T, *tradingsim.Sim) (baseURL string, rt *http.Transport)
	}{
		{name: "an unknown authority", says: "unknown authority", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy, _ := serve(t, sim, "127.0.0.1", tomorrow)
			return proxy.URL() + "/v1", transport.NewPool()
		}},
		{name: "a certificate for another host", says: "certificate", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy, trust := serve(t, sim, "elsewhere.test", tomorrow)
			return proxy.URL() + "/v1", trusting(trust)
		}},
		{name: "a certificate that has expired", says: "expired", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy, trust := serve(t, sim, "127.0.0.1", yesterday)
			return proxy.URL() + "/v1", trusting(trust)
		}},
		{name: "no TLS at all", says: "TLS handshake", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(func(conn *net.TCPConn) {
				_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				_, _ = conn.Read(make([]byte, 1<<10))
			})
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "reset in the handshake", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(faultproxy.Reset)
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "a handshake that stalls", stall: true, start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Accept(faultproxy.Drain)
			return "https://" + proxy.Address() + "/v1", transport.NewPool()
		}},
		{name: "connection refused", says: "refused", start: func(t *testing.T, sim *tradingsim.Sim) (string, *http.Transport) {
			proxy := faultproxy.Start(t, sim)
			proxy.Close()
			return proxy.URL() + "/v1", transport.NewPool()
		}},
		{name: "CONNECT refused", says: "Forbidden", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
		}},
		{name: "CONNECT that asks who it is", says: "Proxy Authentication Required", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"))
		}},
		{name: "CONNECT redirected", says: "Found", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\nContent-Length: 0\r\n\r\n"))
		}},
		{name: "CONNECT answered by no HTTP", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("SSH-2.0-x\r\n"))
		}},
		{name: "CONNECT granted, and no TLS behind it", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, says("HTTP/1.1 200 OK\r\n\r\n"+plainAnswer(200, `{"ok":true,"success":true}`)))
		}},
		{name: "CONNECT that stalls", stall: true, start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, via(t, (*faultproxy.Exchange).Hold)
		}},
		{name: "a name that does not exist", says: "no such host", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, named(t, code(3))
		}},
		{name: "a resolver that fails", says: "service.test", start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, named(t, code(2))
		}},
		{name: "a resolver that is silent", stall: true, start: func(t *testing.T, _ *tradingsim.Sim) (string, *http.Transport) {
			return elsewhere, named(t, func([]byte) []byte { return nil })
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := 10 * time.Second
			if row.stall {
				t.Parallel()
				timeout = stallTimeout
			}
			sim := tradingsim.New()
			baseURL, rt := row.start(t, sim)
			client, err := trading.New(baseURL, worldOptions(sim, timeout, trading.WithTransport(rt),
				trading.WithRetry(trading.Retry{Attempts: 2, MinWait: time.Nanosecond, MaxWait: time.Nanosecond}))...)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			var calls sync.WaitGroup
			for name, call := range map[string]func() error{
				"a read":        func() error { _, err := client.Sandbox.State(t.Context()); return err },
				"a paper order": func() error { _, err := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01")); return err },
				"a reset":       func() error { _, err := client.Sandbox.Reset(t.Context()); return err },
				"an order": func() error {
					_, err := client.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.01"))
					return err
				},
			} {
				calls.Go(func() {
					err := call()
					var transport *trading.TransportError
					if !assert.ErrorAs(t, err, &transport, name) {
						return
					}
					assert.False(t, transport.Written, "%s: %v", name, err)
					assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%s: %v", name, err)
					assert.Equal(t, 2, transport.Meta.Attempts, "%s is tried again: %v", name, err)
					assert.ErrorContains(t, err, row.says, name)
				})
			}
			calls.Wait()
			assert.Empty(t, sim.Requests())
		})
	}
}
