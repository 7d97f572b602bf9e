package hostile

import (
	"crypto/tls"
	"errors"
	"strings"
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

// Over HTTP/2, whose transport has ideas of its own about what may be sent again:
// the first answer or request of a connection breaks, and the ledger says what
// happened. A write is sent again by the retry loop alone.
func TestBrokenStreams(t *testing.T) {
	// ended ends the stream by a code, and takes no others.
	ended := func(code uint32) func(*faultproxy.Frames, faultproxy.Frame) []faultproxy.Frame {
		return func(_ *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame {
			return []faultproxy.Frame{faultproxy.Code(f.Stream, code), faultproxy.GoAway(f.Stream, faultproxy.CodeNo)}
		}
	}
	denied := func(_ *faultproxy.Frames, _ faultproxy.Frame) []faultproxy.Frame {
		return []faultproxy.Frame{faultproxy.GoAway(0, faultproxy.CodeNo)}
	}
	silent := func(*faultproxy.Frames, faultproxy.Frame) []faultproxy.Frame { return nil }
	hangup := func(c *faultproxy.Frames, _ faultproxy.Frame) []faultproxy.Frame { c.Hangup(); return nil }
	for _, row := range []struct {
		name  string
		runs  bool
		stall bool
		fault func() faultproxy.FrameFault
	}{
		{name: "refused", fault: func() faultproxy.FrameFault {
			return faultproxy.BeforeTheService(ended(faultproxy.CodeRefusedStream))
		}},
		{name: "refused, and carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(ended(faultproxy.CodeRefusedStream))
		}},
		{name: "a protocol error, and carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(ended(faultproxy.CodeProtocol))
		}},
		{name: "an internal error, and carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(ended(faultproxy.CodeInternal))
		}},
		{name: "cancelled, and carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(ended(faultproxy.CodeCancel))
		}},
		{name: "too much, and carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(ended(faultproxy.CodeEnhanceCalm))
		}},
		{name: "GOAWAY", fault: func() faultproxy.FrameFault { return faultproxy.BeforeTheService(denied) }},
		{name: "GOAWAY that denies what is carried out", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(denied)
		}},
		{name: "closed", fault: func() faultproxy.FrameFault { return faultproxy.BeforeTheService(hangup) }},
		{name: "closed, and carried out", runs: true, fault: func() faultproxy.FrameFault { return faultproxy.OnceCarriedOut(hangup) }},
		{name: "a stream that stalls", stall: true, fault: func() faultproxy.FrameFault { return faultproxy.BeforeTheService(silent) }},
		{name: "an answer that stalls", runs: true, stall: true, fault: func() faultproxy.FrameFault { return faultproxy.OnceCarriedOut(silent) }},
		{name: "a body that stalls", runs: true, stall: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(func(_ *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame { return []faultproxy.Frame{f} })
		}},
		{name: "a body that ends too soon", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(func(_ *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame {
				return []faultproxy.Frame{f, {Type: faultproxy.FrameData, Flags: faultproxy.FlagEndStream, Stream: f.Stream, Payload: []byte("{")},
					faultproxy.GoAway(f.Stream, faultproxy.CodeNo)}
			})
		}},
		{name: "data before a header", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(func(_ *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame {
				return []faultproxy.Frame{{Type: faultproxy.FrameData, Stream: f.Stream, Payload: []byte("{}")}}
			})
		}},
		{name: "a promise nobody asked for", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(func(_ *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame {
				return []faultproxy.Frame{{Type: faultproxy.FramePushPromise, Flags: faultproxy.FlagEndHeaders, Stream: f.Stream, Payload: []byte{0, 0, 0, 2}}}
			})
		}},
		{name: "headers without end", runs: true, fault: func() faultproxy.FrameFault {
			return faultproxy.OnceCarriedOut(func(c *faultproxy.Frames, f faultproxy.Frame) []faultproxy.Frame {
				c.Tell(faultproxy.Frame{Type: faultproxy.FrameHeaders, Stream: f.Stream, Payload: []byte{0x88}}) // :status 200
				field := []byte("\x00\x01x\x7f\x81\x01" + strings.Repeat("f", 256))                              // not kept in a table
				taken := 0
				for c.Tell(faultproxy.Frame{Type: faultproxy.FrameContinuation, Stream: f.Stream, Payload: field}) {
					if taken += len(field); taken > 16<<20 {
						t.Error("the client reads on and on")
						break
					}
				}
				return nil
			})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := 10 * time.Second
			if row.stall {
				t.Parallel()
				timeout = stallTimeout
			}
			ran := 0
			if row.runs {
				ran = 1
			}
			// world is a client of a service whose first exchange breaks.
			world := func() (*trading.Client, *tradingsim.Sim, func()) {
				sim := tradingsim.New()
				proxy, trust := faultproxy.StartHTTP2(t, sim, row.fault())
				pool := transport.NewPool()
				pool.TLSClientConfig = &tls.Config{RootCAs: trust.RootCAs}
				client, err := trading.New(proxy.URL()+"/v1", worldOptions(sim, timeout, trading.WithTransport(pool))...)
				require.NoError(t, err)
				return client, sim, func() { rig.CloseClient(t, client); proxy.Close() }
			}

			client, _, end := world()
			_, err := client.Sandbox.State(t.Context())
			assert.NoError(t, err, "a read")
			end()

			for operation, write := range map[string]func(*trading.Client) error{
				sandboxOrder: func(c *trading.Client) error {
					_, err := c.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
					return err
				},
				sandboxReset: func(c *trading.Client) error { _, err := c.Sandbox.Reset(t.Context()); return err },
			} {
				client, sim, end := world()
				err := write(client)
				end()
				assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%s: %v", operation, err)
				var transport *trading.TransportError
				if assert.True(t, errors.As(err, &transport), "%s: %v", operation, err) {
					assert.Equal(t, 1, transport.Meta.Attempts)
				}
				assert.Equal(t, ran, executions(sim, operation), operation)
			}

			client, sim, end := world()
			result, err := client.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.01"))
			end()
			require.NoError(t, err)
			assert.Equal(t, row.runs, result.Meta.Replayed)
			assert.Equal(t, 1, executions(sim, liveOrder))
		})
	}
}
