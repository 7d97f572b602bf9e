package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who had the lease read, with SetGap, knows what was read once that returns.
func TestAReadOfTheLeaseIsKnownOnceItIsAnswered(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease = 10 * time.Second // no other renewal comes between
	s := opened(t, at, o)
	operator, err := connect(t.Context(), at)
	require.NoError(t, err)
	defer operator.close()
	for i := range 500 {
		want := i%2 == 0
		_, err := operator.Exec(t.Context(), "UPDATE trading.lease SET halt = CASE WHEN $2 THEN 'x' END WHERE name = $1", o.Name, want)
		require.NoError(t, err)
		require.NoError(t, s.SetGap(false))
		_, halted := s.Halted()
		require.Equal(t, want, halted, "time %d", i)
	}
}

// What comes while a connection that was cut is followed by another goes over that one, as what was on its way does.
func TestAnAppendWaitsForTheNextConnection(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease = 10 * time.Second
	w := newWire(t, fmt.Sprint("127.0.0.1:", shared.port))
	s := opened(t, strings.Replace(at, fmt.Sprint("127.0.0.1:", shared.port), w.address(), 1), o)
	w.part(true)
	before := w.accepted.Load()
	w.cut()
	first := make(chan error, 1)
	go func() { first <- s.Append(t.Context(), true, record(1)) }()
	require.Eventually(t, func() bool { return w.accepted.Load() > before }, patience, time.Millisecond, "it connects")
	time.AfterFunc(100*time.Millisecond, func() { w.part(false) })
	require.NoError(t, s.Append(t.Context(), true, record(2)))
	require.NoError(t, <-first)
	require.ElementsMatch(t, []string{"intent 1", "intent 2"}, intents(t, s))
}
