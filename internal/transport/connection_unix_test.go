//go:build unix

package transport

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing is written to a kept connection on which something is unread. The request goes
// over the next one, while anybody waits for it.
func TestTheNextConnection(t *testing.T) {
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprint("nobody waits any more: ", ended), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			kept, err := net.Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			peer, err := listener.Accept()
			require.NoError(t, err)
			defer peer.Close()
			_, err = peer.Write([]byte("unasked"))
			require.NoError(t, err)
			unfit := newPooledConn(kept, &multiplexed{})
			unfit.waiting = true // as net/http's reader does, which has not been given it

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			trips := 0
			tr := &Transport{traced: true, given: trip(func(r *http.Request) (*http.Response, error) {
				trips++
				trace := httptrace.ContextClientTrace(r.Context())
				if trips == 1 {
					trace.GotConn(httptrace.GotConnInfo{Conn: unfit, Reused: true})
					if ended {
						cancel()
					}
					return nil, net.ErrClosed
				}
				trace.GotConn(httptrace.GotConnInfo{})
				return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
			})}
			a := tr.Send(ctx, write("http://here", "{}"))
			assert.True(t, unfit.closed)
			assert.Equal(t, !ended, a.Err == nil)
			assert.Equal(t, !ended, a.Written)
			assert.Equal(t, ended, trips == 1)
		})
	}
}
