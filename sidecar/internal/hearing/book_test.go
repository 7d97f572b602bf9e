package hearing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func unheard(string) bool { return false }

func write(id string, kind Kind, digest string) Write {
	return Write{ID: id, Place: market, Kind: kind, Digest: digest}
}

// arrives has a write carried out, executed and answered without anybody who hears.
func arrives(t *testing.T, b *Book, w Write, at time.Time) {
	t.Helper()
	v, _ := b.Arrive(w, at, unheard)
	assert.Equal(t, Carry, v)
	b.Known(w.Place, w.ID, Applied, at)
	b.Left(w.Place, w.ID, at)
}

func TestARepeatWithoutAKeyIsOneForAMinute(t *testing.T) {
	var b Book
	arrives(t, &b, write("1", Entry, "x"), t0)
	v, other := b.Arrive(write("2", Entry, "x"), t0.Add(Repeats), unheard)
	assert.Equal(t, Join, v)
	assert.Equal(t, "1", other)
	v, _ = b.Arrive(write("3", Entry, "x"), t0.Add(Repeats+1), unheard)
	assert.Equal(t, Hold, v)
	assert.Equal(t, []string{"1"}, b.Open())
	v, _ = b.Arrive(write("4", Entry, "x"), t0.Add(Forgotten+1), unheard)
	assert.Equal(t, Carry, v, "it does not hold its market for ever")
}

func TestAnExitIsNeverHeldAndAFullOneNeverJoins(t *testing.T) {
	var b Book
	arrives(t, &b, write("1", Entry, "x"), t0)
	arrives(t, &b, write("2", Exit, "close"), t0)
	arrives(t, &b, write("3", Exit, "close"), t0)
	arrives(t, &b, write("4", Partial, "half"), t0)
	v, other := b.Arrive(write("5", Partial, "half"), t0, unheard)
	assert.Equal(t, Join, v, "a repeat would close more")
	assert.Equal(t, "4", other)
	v, _ = b.Arrive(write("6", Partial, "other half"), t0, unheard)
	assert.Equal(t, Carry, v)
	b.Answered(market, "6")
	v, _ = b.Arrive(write("7", Partial, "half"), t0, unheard)
	assert.Equal(t, Carry, v, "its bot has acted on something that came after")
}

func TestWhatDidNotRunIsCarriedOutAgain(t *testing.T) {
	var b Book
	b.Arrive(write("1", Entry, "x"), t0, unheard)
	b.Left(market, "1", t0)
	v, _ := b.Arrive(write("2", Entry, "x"), t0, unheard)
	assert.Equal(t, Join, v, "it runs, so what it comes to is an answer for both")
	b.Known(market, "1", NotApplied, t0)
	v, _ = b.Arrive(write("2", Entry, "x"), t0, unheard)
	assert.Equal(t, Carry, v)
}

func TestWhatRestsIsClosedByOrdersAndPositions(t *testing.T) {
	var b Book
	w := write("1", Entry, "x")
	w.Waits = true
	arrives(t, &b, w, t0)
	b.Read("bot", "acc_1", Orders, t0.Add(Lag))
	b.Read("bot", "acc_2", Positions, t0.Add(Lag))
	b.Read("another", "acc_1", Positions, t0.Add(Lag))
	assert.Equal(t, []string{"1"}, b.Open(), "it may have filled at once")
	b.Read("bot", "acc_1", Positions, t0.Add(Lag))
	assert.Empty(t, b.Open())
}

func TestAnUnknownOutcomeIsClosedByNoRead(t *testing.T) {
	var b Book
	b.Arrive(write("1", Entry, "x"), t0, unheard)
	b.Left(market, "1", t0)
	b.Read("bot", "acc_1", Positions, t0.Add(time.Hour))
	b.Heard(market, "1")
	v, _ := b.Arrive(write("2", Entry, "y"), t0.Add(time.Hour), func(string) bool { return true })
	assert.Equal(t, Hold, v, "an answer that tells no outcome is none")
	b.Known(market, "1", Applied, t0.Add(time.Hour))
	b.Heard(market, "1")
	assert.Empty(t, b.Open())
}

func TestTwoBotsAndTwoMarketsDoNotMeet(t *testing.T) {
	var b Book
	arrives(t, &b, write("1", Entry, "x"), t0)
	for _, p := range []Place{{"other", "acc_1", "BTC"}, {"bot", "acc_2", "BTC"}, {"bot", "acc_1", "ETH"}} {
		w := write("2", Entry, "x")
		w.Place = p
		v, _ := b.Arrive(w, t0, unheard)
		assert.Equal(t, Carry, v)
	}
}

func TestARestartHoldsWhatWasNotHeard(t *testing.T) {
	var b Book
	b.Restore(write("1", Entry, "x"), Unknown, t0)
	b.Restore(write("2", Entry, "z"), NotApplied, t0)
	b.Restore(write("3", Partial, "half"), Unknown, t0)
	assert.Equal(t, []string{"1"}, b.Open())
	keyed := write("4", Entry, "x")
	keyed.Key = "k"
	for _, w := range []Write{write("4", Entry, "x"), write("4", Entry, "y"), keyed} {
		v, _ := b.Arrive(w, t0, unheard)
		assert.Equal(t, Hold, v)
	}
	var again Book
	keyed.ID = "1"
	again.Restore(keyed, Applied, t0)
	keyed.ID = "5"
	v, _ := again.Arrive(keyed, t0, unheard)
	assert.Equal(t, Carry, v, "the service executes it once under its key")
}

// A call that its bot leaves running: its connection takes the answer, and nobody may go by it.
func TestACallThatIsLeftRunning(t *testing.T) {
	for what, goesOn := range map[string]func(*Book){
		"it reads":               func(b *Book) { b.GoesOn("bot", "acc_1") },
		"it closes":              func(b *Book) { b.Arrive(write("0", Close, "close"), t0, unheard) },
		"it asks again":          func(b *Book) { b.Arrive(write("0", Entry, "x"), t0, unheard) },
		"it asks, under its key": func(b *Book) { w := write("0", Entry, "x"); w.Key = "k"; b.Arrive(w, t0, unheard) },
		"it asks, under another": func(b *Book) { w := write("0", Entry, "x"); w.Key = "new"; b.Arrive(w, t0, unheard) },
	} {
		t.Run(what, func(t *testing.T) {
			var b Book
			first := write("1", Entry, "x")
			first.Key = "k"
			b.Arrive(first, t0, unheard)
			v, _ := b.Arrive(write("2", Entry, "y"), t0, unheard)
			assert.Equal(t, Carry, v, "it waits for both")
			b.Known(market, "2", NotApplied, t0)
			goesOn(&b)
			held := func(at time.Time, why string) {
				t.Helper()
				v, other := b.Arrive(write("3", Entry, "y"), at, func(string) bool { return true })
				assert.Equal(t, Hold, v, why)
				assert.Equal(t, "1", other)
			}
			held(t0, "it runs")
			b.Known(market, "1", Applied, t0)
			b.Left(market, "1", t0)
			assert.False(t, b.Heard(market, "1"))
			held(t0, "somebody took its answer")
			v, _ = b.Arrive(write("4", Entry, "x"), t0, unheard)
			assert.Equal(t, Hold, v, "whether it is the same again or another one nobody knows")
			assert.Empty(t, b.Read("bot", "acc_1", Positions, t0.Add(Lag-1)))
			held(t0, "a read lags")
			v, _ = b.Arrive(first, t0, unheard)
			assert.Equal(t, Join, v, "its own key gets its answer")
			assert.Equal(t, []string{"1"}, b.Read("bot", "acc_1", Positions, t0.Add(Lag)))
			assert.Empty(t, b.Open())
		})
	}
}

// Who has not heard an answer does not know its name.
func TestWhatItsBotNamesIsHeard(t *testing.T) {
	var b Book
	b.Arrive(write("1", Entry, "x"), t0, unheard)
	b.GoesOn("bot", "acc_1")
	assert.False(t, b.Named(market, "1"), "nothing is known that could be heard")
	b.Known(market, "1", Applied, t0)
	b.Left(market, "1", t0)
	assert.False(t, b.Heard(market, "1"))
	assert.True(t, b.Named(market, "1"))
	assert.Empty(t, b.Open())
}

// A bot that has closed its connection waits for nothing: a read is none that it makes meanwhile,
// and a repeat that it waits for is heard.
func TestACallThatIsEndedAndRepeated(t *testing.T) {
	var b Book
	b.Arrive(write("1", Entry, "x"), t0, unheard)
	b.Left(market, "1", t0)
	v, _ := b.Arrive(write("2", Entry, "x"), t0, unheard)
	assert.Equal(t, Join, v)
	b.Known(market, "1", Applied, t0)
	assert.True(t, b.Heard(market, "1"))
	assert.Empty(t, b.Open())

	b.Arrive(write("3", Entry, "x"), t0, unheard)
	b.Left(market, "3", t0)
	b.Arrive(write("4", Entry, "x"), t0, unheard)
	b.GoesOn("bot", "acc_1") // the repeat is left, too
	b.Known(market, "3", Applied, t0)
	assert.False(t, b.Heard(market, "3"))
	assert.Equal(t, []string{"3"}, b.Open())
}

// A close that was answered may have closed what a write on its way has opened meanwhile.
func TestWhatRunsIsNotRepeatedBehindAnAnswer(t *testing.T) {
	var b Book
	b.Arrive(write("1", Entry, "x"), t0, unheard)
	b.Arrive(write("2", Partial, "half"), t0, unheard)
	b.Left(market, "1", t0)
	b.Left(market, "2", t0)
	arrives(t, &b, write("3", Exit, "close"), t0)
	b.Answered(market, "3")
	v, _ := b.Arrive(write("4", Entry, "x"), t0, unheard)
	assert.Equal(t, Hold, v)
	v, _ = b.Arrive(write("5", Partial, "half"), t0, unheard)
	assert.Equal(t, Carry, v, "an exit is never swallowed")
}

// The write of an earlier run that its bot sends again under its key is one write, also in the list for people.
func TestARepeatAfterARestartIsListedOnce(t *testing.T) {
	var b Book
	w := write("1", Entry, "x")
	w.Key = "k"
	b.Restore(w, Unknown, t0)
	v, _ := b.Arrive(w, t0, unheard)
	assert.Equal(t, Carry, v)
	b.Left(w.Place, w.ID, t0)
	assert.Equal(t, []string{"1"}, b.Open())
}
