package postgres

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

func leaseOf(t *testing.T, url, name string) Lease {
	t.Helper()
	all, err := Leases(t.Context(), url)
	require.NoError(t, err)
	for _, l := range all {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no lease %q", name)
	return Lease{}
}

// kept are what a person reads of a lease, one word for each history.
func keptOf(t *testing.T, url, name string) (all []string) {
	t.Helper()
	for h, err := range Histories(t.Context(), url, name) {
		require.NoError(t, err)
		all = append(all, fmt.Sprint(h.Intent, " ", h.Name, " ", h.Final, " ", len(h.Records)))
	}
	return all
}

// A person sees what a lease is, and what its journal keeps, beside the holder.
func TestALeaseAsAPersonSeesIt(t *testing.T) {
	at, o := database(t), options()
	o.Lease = 5 * time.Second
	all, err := Leases(t.Context(), at)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = histories(t.Context(), at, o.Name)
	require.ErrorIs(t, err, ErrNoLease)

	s := opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true,
		journal.Record{Intent: "a", Data: []byte("1")}, journal.Record{Intent: "a", Data: []byte("2")},
		journal.Record{Intent: "b", Name: "n", Data: []byte("1")}, journal.Record{Intent: "b", Name: "n", Final: true, Data: []byte("2")},
		journal.Record{Intent: "c", Data: []byte("1")}, journal.Record{Intent: "c", Final: true, Data: []byte("2")},
		journal.Record{Intent: "d", Name: "m", Data: []byte("1")}, journal.Record{Intent: "d", Name: "m", Final: true, Data: []byte("2")}))
	require.NoError(t, s.Forget(t.Context(), "m"))
	require.NoError(t, s.Append(t.Context(), true, journal.Record{Intent: "e", Name: "m", Data: []byte("1")}))
	assert.Equal(t, []string{"a  false 2", "b n true 2", "e m false 1"}, keptOf(t, at, o.Name))

	l := leaseOf(t, at, o.Name)
	assert.True(t, l.Held())
	assert.Equal(t, 5*time.Second, l.Lasts)
	assert.Less(t, l.Silent, 5*time.Second)
	assert.EqualValues(t, 10, l.Records)
	assert.EqualValues(t, 2, l.Pending)
	assert.WithinDuration(t, time.Now(), l.Oldest, time.Minute)
	assert.WithinDuration(t, time.Now(), l.TakenAt, time.Minute)
	assert.Contains(t, l.Place, fmt.Sprint("process ", os.Getpid()))
	assert.Equal(t, []LeasedAccount{{"https://service.example/v1", o.Accounts[0]}}, l.Accounts)
	assert.Equal(t, [3]bool{}, [3]bool{l.Gap, l.Halted, l.Released})
	require.NoError(t, s.Close())
	l = leaseOf(t, at, o.Name)
	assert.Equal(t, [2]bool{false, true}, [2]bool{l.Held(), l.Released})
}

// A halt stops the holder within a fifth of its lease, and the next one from its beginning, until it
// is resumed.
func TestAHaltSurvivesATakeover(t *testing.T) {
	at, o := address(t), options()
	require.ErrorIs(t, Halt(t.Context(), at, o.Name, "x"), ErrNoLease)
	s := opened(t, at, o)
	halted := func(s *Store) func() bool { return func() bool { _, is := s.Halted(); return is } }
	require.False(t, halted(s)())
	require.NoError(t, Halt(t.Context(), at, o.Name, "look at the fills"))
	require.Eventually(t, halted(s), patience, time.Millisecond)
	require.NoError(t, s.Close())
	next := opened(t, at, o)
	reason, is := next.Halted()
	assert.Equal(t, "look at the fills", reason)
	assert.True(t, is)
	l := leaseOf(t, at, o.Name)
	assert.Equal(t, "look at the fills", l.Reason)
	assert.True(t, l.Halted)
	require.NoError(t, Resume(t.Context(), at, o.Name))
	require.NoError(t, next.Append(t.Context(), true, record(1)), "each append reads it too")
	assert.False(t, halted(next)())
}

// A person takes a lease as it was left, whatever its holders agreed on, and not from one who lives.
// Who waits beside the person goes on waiting, and gets it when it is handed over: with the gap that
// the dead holder left.
func TestOpenAsLeft(t *testing.T) {
	at, o := address(t), options()
	o.Declares, o.Alive = "version 7", time.Hour
	dead := opened(t, at, o)
	require.NoError(t, dead.Append(t.Context(), true, record(1)))
	short, cancel := context.WithTimeout(t.Context(), 3*o.Lease)
	defer cancel()
	_, err := OpenAsLeft(short, at, o.Name, "")
	require.ErrorIs(t, err, context.DeadlineExceeded, "it lives")

	other := o
	other.Declares = "version 8"
	_, err = Open(t.Context(), at, other)
	require.ErrorIs(t, err, ErrDiffers)
	dead.mu.Lock()
	dead.o.Alive = 1 // it hangs from now on
	dead.mu.Unlock()

	person, err := OpenAsLeft(t.Context(), at, o.Name, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"intent 1"}, intents(t, person))
	assert.True(t, person.Covers(service, o.Accounts[0]))
	taken := make(chan *Store)
	o.Alive = 0
	go func() { taken <- opened(t, at, o) }()
	select {
	case <-taken:
		t.Fatal("taken from a person")
	case <-time.After(o.Lease / 2):
	}
	require.NoError(t, person.Close())
	next := <-taken
	gap, err := next.Gap()
	require.NoError(t, err)
	assert.True(t, gap)

	_, err = OpenAsLeft(t.Context(), at, "none", "")
	require.ErrorIs(t, err, ErrNoLease)
	_, err = OpenAsLeft(t.Context(), at, o.Name, "https://elsewhere.example/v1")
	require.ErrorContains(t, err, "has no account at https://elsewhere.example/v1")
	execute(t, at, fmt.Sprintf("INSERT INTO trading.account VALUES ('https://other.example/v1', 'acc_1', '%s')", o.Name))
	_, err = OpenAsLeft(t.Context(), at, o.Name, "")
	require.ErrorContains(t, err, "has accounts at")
}

// Retention is one statement, which the README has: what is pending stays, and so does what is young.
func TestRetention(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	statement := regexp.MustCompile("(?s)```sql\n(DELETE.*?)```").FindSubmatch(text)
	require.NotNil(t, statement)
	at, o := database(t), options()
	s := opened(t, at, o)
	old := func() { execute(t, at, "UPDATE trading.record SET at = at - interval '31 days'") }
	require.NoError(t, s.Append(t.Context(), true,
		journal.Record{Intent: "open", Data: []byte("1")},
		journal.Record{Intent: "done", Name: "n", Data: []byte("1")}, journal.Record{Intent: "done", Name: "n", Final: true},
		journal.Record{Intent: "long", Name: "l", Data: []byte("1")},
		journal.Record{Intent: "gone", Name: "m", Final: true}))
	require.NoError(t, s.Forget(t.Context(), "m"))
	old()
	require.NoError(t, s.Append(t.Context(), true, journal.Record{Intent: "long", Name: "l", Final: true}))
	require.NoError(t, s.Append(t.Context(), true, journal.Record{Intent: "young", Name: "o", Data: []byte("1")}, journal.Record{Intent: "young", Name: "o", Final: true}))
	execute(t, at, string(statement[1]))
	assert.Equal(t, []string{"open  false 1", "long l true 2", "young o true 2"}, keptOf(t, at, o.Name))
	require.NoError(t, s.Append(t.Context(), true, record(1)), "the holder goes on")
	require.NoError(t, s.Close())
	next := opened(t, at, o)
	assert.Equal(t, []string{"open", "intent 1"}, intents(t, next))
}

// A lease is removed with all that is of it, once it is released and nothing is pending.
func TestRemove(t *testing.T) {
	at, o := database(t), options()
	require.ErrorIs(t, Remove(t.Context(), at, o.Name), ErrNoLease)
	s := opened(t, at, o)
	other := opened(t, at, options())
	require.NoError(t, other.Append(t.Context(), true, record(2)))
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	require.ErrorIs(t, Remove(t.Context(), at, o.Name), ErrHeld)
	require.NoError(t, s.Close())
	require.ErrorIs(t, Remove(t.Context(), at, o.Name), journal.ErrPending)
	s = opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true, journal.Record{Intent: "intent 1", Final: true}))
	require.NoError(t, s.Close())
	require.NoError(t, Remove(t.Context(), at, o.Name))
	all, err := Leases(t.Context(), at)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, []string{"intent 2"}, intents(t, other))
	assert.Equal(t, 1, scalar[int](t, at, "SELECT count(*)::int FROM trading.record"))
	assert.True(t, opened(t, at, o).New())
}
