package transport

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errLease = errors.New("the lease is over")

// times is a gate that says yes so many times: a question comes before the transport of a program
// begins, with the first byte and with the last.
type times struct{ yes, asked int }

func (g *times) MayLeave() error {
	if g.asked++; g.asked > g.yes {
		return errLease
	}
	return nil
}

// The gate is asked again with the last byte: what it refuses then has not left.
func TestTheGateIsAskedWithTheLastByte(t *testing.T) {
	trusted := httptest.NewTLSServer(nil)
	defer trusted.Close()
	for name, row := range map[string]struct{ secure, http2 bool }{"HTTP/1.1": {}, "TLS": {secure: true}, "HTTP/2": {secure: true, http2: true}} {
		for _, body := range []string{"{}", ""} {
			if body == "" && row.http2 {
				continue // its header is all of it
			}
			t.Run(name+" "+body, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &wire{}
					tr, to := w.start(t, trusted, row.secure, row.http2)
					r, gate := write(to, body), &times{yes: 1}
					r.Gate, r.Timeout = gate, 10*time.Second
					a := tr.Send(t.Context(), r)
					require.ErrorIs(t, a.Err, errLease)
					assert.False(t, a.Written)
					time.Sleep(time.Minute)
					synctest.Wait()
					assert.Empty(t, w.bodies)
					assert.Equal(t, 2, gate.asked)
				})
			})
		}
	}
	t.Run("a transport of the program's", func(t *testing.T) {
		var got strings.Builder
		tr := New(trip(func(r *http.Request) (*http.Response, error) {
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{r.Body}, make([]byte, 4))
			return nil, err
		}))
		r := write("http://here", "0123456789")
		r.Gate = &times{yes: 2}
		a := tr.Send(t.Context(), r)
		require.ErrorIs(t, a.Err, errLease)
		assert.False(t, a.Written)
		assert.Equal(t, "01234567", got.String())
	})
}
