package observe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

var about = About{BaseURL: "https://api.example.com/v1/", Holder: "user_1", By: "test"}

// judged runs the script under some interpretations.
func judged(t *testing.T, interpretations ...int) (p *profile.Profile) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var opts []tradingsim.Option
		for _, i := range interpretations {
			opts = append(opts, tradingsim.WithInterpretation(i))
		}
		p = Judge(newAsker(t, opts...).run(), about)
	})
	return p
}

// seenHere are the experiments that the script decides.
var seenHere = []string{"A1", "A1e", "A2", "49", "51", "9", "13", "A9", "A11", "A12", "53", "28", "28p", "4", "A16", "A17", "A18", "A19", "16", "31", "34", "35", "36", "42", "43", "44", "45", "54"}

// Under the simulator's own readings everything is first.
func TestDefault(t *testing.T) {
	p := judged(t)
	require.NoError(t, p.Validate())
	seen := 0
	for _, r := range p.Results {
		want := profile.Unseen
		if slices.Contains(seenHere, r.Experiment) {
			want = profile.First
			seen++
		}
		assert.Equal(t, want, r.Verdict, "%s: %s %+v", r.Experiment, r.Why, r)
	}
	assert.Len(t, seenHere, seen)
}

// wrong lists verdicts that are not what the simulator did.
func wrong(p *profile.Profile, set ...int) (all []string) {
	for _, r := range p.Results {
		number, err := strconv.Atoi(r.Experiment)
		if r.Experiment == "28p" {
			number, err = 28, nil
		}
		other := err == nil && slices.Contains(set, number)
		switch {
		case r.Verdict == profile.Unseen:
		case other && r.Verdict == profile.Other, !other && r.Verdict == profile.First:
		default:
			all = append(all, fmt.Sprintf("%v: %s is %s: %s", set, r.Experiment, r.Verdict, r.Why))
		}
	}
	return all
}

// found are the readings that the script finds out when they are otherwise.
var found = []int{4, 9, 13, 28, 31, 34, 35, 36, 42, 43, 44, 45, 49, 51, 53, 54}

// Under each other reading each experiment finds its own, or says that it is unseen.
func TestEachReading(t *testing.T) {
	for _, i := range slices.Sorted(maps.Keys(tradingsim.Interpretations())) {
		p := judged(t, i)
		assert.Empty(t, wrong(p, i), "under %d", i)
		r, _ := p.Result(strconv.Itoa(i), environmentOfReading(i))
		if slices.Contains(found, i) {
			assert.Equal(t, profile.Other, r.Verdict, "%d: %s", i, r.Why)
		} else {
			assert.NotEqual(t, profile.First, r.Verdict, "%d", i)
		}
	}
}

func environmentOfReading(number int) profile.Environment {
	for _, x := range Experiments {
		if x.Number == strconv.Itoa(number) {
			return x.Environment
		}
	}
	return ""
}

// Under every pair no experiment is wrong. A sample takes one in 20, TESTS=full one in 5, -observe.pairs all.
func TestPairsOfReadings(t *testing.T) {
	all := slices.Sorted(maps.Keys(tradingsim.Interpretations()))
	step := 5
	switch {
	case *allPairs:
		step = 1
	case brief():
		step = rarer(20)
	}
	n := 0
	for i, a := range all {
		for _, b := range all[i+1:] {
			if n++; n%step == 0 {
				assert.Empty(t, wrong(judged(t, a, b), a, b))
				if n%(2*step) == 0 || *allPairs {
					assert.Empty(t, wrong(judgedStates(t, nil, readings(a, b)...), a, b), "of states")
				}
			}
		}
	}
}

// Every reading of the simulator and every assumption has its experiment, once, and controls
// come before what needs them.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Experiments {
		assert.False(t, seen[x.Number], x.Number)
		for _, c := range x.Controls {
			assert.True(t, seen[c], "%s before its control %s", x.Number, c)
		}
		seen[x.Number] = true
		assert.NotEmpty(t, x.First)
		assert.NotEmpty(t, x.Other)
		assert.NotEmpty(t, x.Environment)
		if _, questioned := asked[x.Number]; x.Class != Never && x.Class != Closed {
			assert.True(t, questioned || x.judge != nil, "nothing shows %s", x.Number)
		}
	}
	for i := range tradingsim.Interpretations() {
		assert.True(t, seen[strconv.Itoa(i)], "%d", i)
	}
	assumptions := map[string]bool{}
	for _, x := range Experiments {
		assumptions[x.Assumption] = true
		assumptions[x.Number] = true
	}
	for i := 1; i <= 19; i++ {
		assert.True(t, assumptions["A"+strconv.Itoa(i)], "A%d", i)
	}
}

// Without its control an experiment is wrong: 13 takes 51 for its own, and 28 hides 54.
func TestControlsAreNeeded(t *testing.T) {
	for number, set := range map[string][]int{"13": {51}, "54": {28, 54}} {
		i := slices.IndexFunc(Experiments, func(x Experiment) bool { return x.Number == number })
		with := Experiments[i].Controls
		assert.Empty(t, wrong(judged(t, set...), set...))
		Experiments[i].Controls = nil
		p := judged(t, set...)
		Experiments[i].Controls = with
		assert.NotEmpty(t, wrong(p, set...), number)
	}
}

// The lag of reads is measured within a tenth.
func TestLag(t *testing.T) {
	for _, set := range []time.Duration{0, time.Second, 3 * time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := newAsker(t, tradingsim.WithLag(set))
			for _, side := range []string{"long", "long", "long"} {
				a.get("/positions?accountId=acc_1")
				a.post("/orders", a.key(), `{"accountId":"acc_1","symbol":"BTC","side":"`+side+`","size":0.05,"leverage":2}`)
				for range 100 {
					a.get("/positions?accountId=acc_1")
				}
			}
			p := Judge(a.seen, about)
			m := p.Measured.ReadLag
			require.Equal(t, 3, m.N)
			assert.InDelta(t, float64(set), float64(m.Median), float64(set)/10+1)
			r, _ := p.Result("A9", profile.Live)
			want := profile.First
			if set > 5*time.Second {
				want = profile.Other
			}
			assert.Equal(t, want, r.Verdict)
		})
	}
}

// The times of answers are measured within a tenth, and a fee exactly.
func TestMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t)
		a.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Delay(120 * time.Millisecond) })
		m := Judge(a.run(), about).Measured
		assert.InEpsilon(t, float64(120*time.Millisecond), float64(m.AnswerTime["GET /positions"].Median), 0.1)
		assert.Equal(t, "0.00045", m.TakerFee)
		assert.Equal(t, "1", m.DefaultLeverage)
	})
}

// Of several equal requests at once one runs. The others may each get its answer.
func TestSeveralAtOnce(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	answered := func(n int, replayed bool, code string) Exchange {
		x := Exchange{Operation: "POST /orders", Key: "k", Request: []byte(order), Sent: at.Add(time.Duration(n) * time.Millisecond), Received: at.Add(time.Duration(n+10) * time.Millisecond), Status: 200, Response: []byte(`{"success":true}`), Replayed: replayed}
		if code != "" {
			x.Status, x.Response = 409, []byte(`{"error":"`+code+`"}`)
		}
		x.fill()
		return x
	}
	for name, c := range map[string]struct {
		seen []Exchange
		want profile.Verdict
	}{
		"two get the answer of the first":   {[]Exchange{answered(0, false, ""), answered(1, true, ""), answered(2, true, "")}, profile.First},
		"the second runs":                   {[]Exchange{answered(0, true, ""), answered(1, false, ""), answered(2, true, ""), answered(3, false, codeInFlight)}, profile.First},
		"one waits":                         {[]Exchange{answered(0, false, ""), answered(1, false, codeInFlight)}, profile.First},
		"two are answered as the first":     {[]Exchange{answered(0, false, ""), answered(1, false, ""), answered(2, true, "")}, profile.Neither},
		"none is answered as the first":     {[]Exchange{answered(0, true, ""), answered(1, true, "")}, profile.Neither},
		"the second is refused in some way": {[]Exchange{answered(0, false, ""), answered(1, false, "busy")}, profile.Neither},
	} {
		e := &Evidence{Exchanges: c.seen}
		tally := &Tally{}
		judgeOrdersBesideFirst(e, tally)
		assert.Equal(t, c.want, profile.Of(tally.First, tally.Other, tally.Neither), name)
		assert.Equal(t, 1, tally.First+tally.Other+tally.Neither, name)
	}
}

// What is carried over from an older profile holds as long as its controls do.
func TestCarriedByItsControls(t *testing.T) {
	before := judged(t)
	again := func(e *Evidence) *profile.Profile {
		of := about
		of.Before = before
		return Judge(e, of)
	}
	r, _ := again(&Evidence{}).Result("49", profile.Live)
	require.Equal(t, profile.First, r.Verdict, r.Why)
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t)
		a.rt = unwritten()["a proxy that caches"](unwritten()["404 before the claim"](a.rt))
		a.run()
		var cancels []Exchange
		for _, x := range a.seen.Exchanges {
			if x.Operation == "POST /orders/cancel" {
				cancels = append(cancels, x)
			}
		}
		p := again(&Evidence{Exchanges: cancels})
		r, _ = p.Result("A1", profile.Live)
		require.NotEqual(t, profile.First, r.Verdict)
		before = p
	})
	r, _ = before.Result("49", profile.Live)
	assert.Equal(t, profile.Unseen, r.Verdict, "%+v", r)
	assert.Contains(t, r.Why, "control A")
	var kept profile.Result
	for i := range Experiments {
		if x := &Experiments[i]; x.Number == "49" {
			kept = x.controlled(r, func(string) profile.Verdict { return profile.First })
		}
	}
	assert.Equal(t, profile.First, kept.Verdict, "once they hold again")
}

// A recording that shows no harm takes back nothing that was seen within thirty days: both were seen.
func TestAnOlderHarmIsNotForgotten(t *testing.T) {
	recording := func(lag time.Duration) (e *Evidence) {
		synctest.Test(t, func(t *testing.T) {
			a := newAsker(t, tradingsim.WithLag(lag))
			a.get("/positions?accountId=acc_1")
			a.post("/orders", a.key(), order)
			for range 100 {
				a.get("/positions?accountId=acc_1")
			}
			e = a.seen
		})
		return e
	}
	later := func(e *Evidence, by time.Duration) *Evidence {
		for i := range e.Exchanges {
			e.Exchanges[i].Sent, e.Exchanges[i].Received = e.Exchanges[i].Sent.Add(by), e.Exchanges[i].Received.Add(by)
		}
		return e
	}
	slow := Judge(recording(9*time.Second), about)
	r, _ := slow.Result("A9", profile.Live)
	require.Equal(t, profile.Other, r.Verdict)
	for after, want := range map[time.Duration]profile.Verdict{24 * time.Hour: profile.Mixed, 31 * 24 * time.Hour: profile.First} {
		of := about
		of.Before = slow
		for range 2 { // and each night
			p := Judge(later(recording(0), after), of)
			require.NoError(t, p.Validate())
			r, _ = p.Result("A9", profile.Live)
			assert.Equal(t, want, r.Verdict, "after %s", after)
			assert.Equal(t, want == profile.Mixed, time.Duration(p.Measured.ReadLag.Most) > 8*time.Second, "%s", time.Duration(p.Measured.ReadLag.Most))
			of.Before = p
		}
	}
}

// What is seen on paper sets paper alone, and what is seen on live accounts sets live.
func TestEnvironmentsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t)
		a.run()
		for _, env := range []profile.Environment{profile.Paper, profile.Live} {
			p := Judge(&Evidence{Exchanges: only(a.seen, env)}, about)
			seen := 0
			for _, r := range p.Results {
				if r.Verdict != profile.Unseen {
					seen++
					assert.Equal(t, env, r.Environment, r.Experiment)
				}
			}
			assert.Positive(t, seen)
		}
	})
}
