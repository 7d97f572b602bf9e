package trading

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What each answer to a fence says of the key that it was sent under.
func TestWhatAFenceProves(t *testing.T) {
	refused := func(status int, code Code) error { return &Error{Code: code, Status: status} }
	for _, row := range []struct {
		name     string
		err      error
		replayed bool
		want     fenceFinding
	}{
		{"it cancelled something", nil, false, fenceHolds},
		{"no answer", &TransportError{Err: io.ErrUnexpectedEOF}, false, fenceProvesNothing},
		{"a page in front", &EdgeError{}, false, fenceProvesNothing},
		{"it was not sent", &Error{Code: CodeOrderNotFound, Status: 404, Local: true}, false, fenceProvesNothing},
		{"no such order", refused(404, CodeOrderNotFound), false, fenceHolds},
		{"the same under another status", refused(400, CodeOrderNotFound), false, fenceProvesNothing},
		{"no such account, of another holder perhaps", refused(404, CodeAccountNotFound), true, fenceProvesNothing},
		{"the key is of another request", refused(422, CodeIdempotencyKeyReused), false, fenceReceived},
		{"the key's result is unknown", refused(409, CodeIdempotencyResultUnknown), false, fenceHolds},
		{"the key is in flight", refused(409, CodeIdempotencyInFlight), false, fenceProvesNothing},
		{"a refusal, perhaps in front of the key", refused(403, CodeAccountLocked), false, fenceProvesNothing},
		{"the refusal, stored", refused(403, CodeAccountLocked), true, fenceHolds},
		{"a 429", refused(429, CodeRateLimited), false, fenceProvesNothing},
		{"a stored 429", refused(429, CodeRateLimited), true, fenceHolds},
		{"the last status that is stored", refused(499, "unheard_of"), true, fenceHolds},
		{"a 5xx is not stored, whatever it says", refused(500, CodeInternalError), true, fenceProvesNothing},
		{"a 503 neither", refused(503, CodeUnavailable), true, fenceProvesNothing},
	} {
		assert.Equal(t, row.want, judgeFence(Meta{Replayed: row.replayed}, row.err), row.name)
	}
}

// unproven answers fences with what proves nothing, and notes when they came.
type unproven struct{ at []time.Time }

func (u *unproven) RoundTrip(req *http.Request) (*http.Response, error) {
	u.at = append(u.at, time.Now())
	return answered(http.StatusInternalServerError, refusalBody(CodeInternalError))(req)
}

// A fence is tried ever more slowly, for longer than a key can be claimed, and
// then says why nothing was proven.
func TestAFenceIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &unproven{}
		client := newTestClient(t, service, WithRetry(Retry{Attempts: 1}))
		r, err := newResolver(client.core, client.defaults, nil)
		require.NoError(t, err)
		began := time.Now()
		finding, err := r.fence(t.Context(), Intent{
			ID: "i_1", Key: NewKey(), Operation: OpOrder, Environment: EnvLive, Account: "acc_1", Symbol: "BTC", Created: began,
		})
		assert.Equal(t, fenceProvesNothing, finding)
		require.ErrorIs(t, err, CodeInternalError)
		took := time.Since(began)
		assert.GreaterOrEqual(t, took, fencePatience)
		assert.Less(t, took, fencePatience+fenceMaxWait+time.Second)
		require.Greater(t, len(service.at), 10)
		for i, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, fenceMaxWait, fenceMaxWait} {
			assert.Equal(t, wait, service.at[i+1].Sub(service.at[i]).Truncate(time.Second), "wait %d", i+1)
		}
	})
}

// A fence that could not be noted is not sent: after a restart nobody would know
// that the key is spent.
func TestAFenceIsNotedFirst(t *testing.T) {
	full := errors.New("the disk is full")
	client := newTestClient(t, newScript(t), WithJournal(&brokenJournal{err: full}))
	r, err := newResolver(client.core, client.defaults, nil)
	require.NoError(t, err)
	finding, err := r.fence(t.Context(), Intent{ID: "i_1", Key: NewKey(), Operation: OpOrder, Account: "acc_1"})
	assert.Equal(t, fenceProvesNothing, finding)
	require.ErrorIs(t, err, full)
	require.ErrorIs(t, err, ErrJournal)
}

// brokenJournal begins nothing while it has an error.
type brokenJournal struct {
	Journal
	err error
}

func (b *brokenJournal) Begin(ctx context.Context, in Intent) error {
	if b.err != nil {
		return b.err
	}
	return b.Journal.Begin(ctx, in)
}
