package odds

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/protect"
)

// quick are options with few paths, and without jumps.
func quick(r Rules) Options {
	return Options{Rules: r, Horizon: 60, Outer: 40, Inner: 40, Jump: &Jump{}}
}

// steady is a history that a forecast needs little width for: an edge, and small days.
func steady(days int) History {
	return historyOf(independent(300, 300)(rand.New(rand.NewPCG(1, 1)), days))
}

func forecast(t *testing.T, h History, o Options) *Forecast {
	t.Helper()
	f, err := Of(h, o)
	require.NoError(t, err)
	return f
}

func chanceOf(t *testing.T, o trading.Opt[Chance]) Chance {
	t.Helper()
	c, ok := o.Get()
	require.True(t, ok)
	return c
}

func TestTheSharesOfAForecast(t *testing.T) {
	f := forecast(t, steady(300), quick(challenge()))
	require.Empty(t, f.Refused)
	pass, lose := chanceOf(t, f.Pass), chanceOf(t, f.Lose)
	require.InDelta(t, 1, pass.Mean+lose.Mean+chanceOf(t, f.Undecided).Mean+chanceOf(t, f.Held).Mean, 1e-9)
	require.Greater(t, pass.Mean, 0.9)
	require.True(t, pass.Low <= pass.Mean && pass.Mean <= pass.High)
	require.Less(t, pass.Error, 0.01)
	last := f.ByDay[len(f.ByDay)-1]
	require.Equal(t, 60, last.Day)
	require.InDelta(t, lose.Mean, last.Lost, 1e-9)
	for i := 1; i < len(f.ByDay); i++ {
		require.GreaterOrEqual(t, f.ByDay[i].Passed, f.ByDay[i-1].Passed)
		require.LessOrEqual(t, f.ByDay[i].Equity[0], f.ByDay[i].Equity[4])
	}
	require.Len(t, f.Blocks, 2)
	require.Contains(t, f.String(), "pass ")
}

func TestARefusalComesBeforeAnyNumber(t *testing.T) {
	untargeted := challenge()
	untargeted.Target = trading.Opt[decimal.Decimal]{}
	endless := quick(untargeted)
	endless.Horizon = 0
	idle := steady(90)
	for i := range idle.Days {
		idle.Days[i].Traded = false
	}
	for name, c := range map[string]struct {
		h    History
		o    Options
		want string
	}{
		"1 day":            {steady(1), quick(challenge()), "1 day is too few days for an interval"},
		"3 days":           {steady(3), quick(challenge()), "3 days are too few days for an interval"},
		"no target":        {steady(90), endless, "the account has no target, so it needs a horizon"},
		"no trade in days": {idle, quick(challenge()), "no day of the history has a trade"},
	} {
		f := forecast(t, c.h, c.o)
		assert.True(t, strings.HasPrefix(f.String(), "chances       No chance can be given: "+c.want), "%s:\n%s", name, f)
		_, pass := f.Pass.Get()
		_, lose := f.Lose.Get()
		assert.False(t, pass || lose, name)
		assert.Empty(t, f.ByDay, name)
		assert.Empty(t, f.Readings, name)
		assert.NotZero(t, f.Seen.Days, "what was seen is there")
		assert.Equal(t, len(c.h.Days) < FewestDays, !strings.Contains(f.String(), "(99 %"), "%s: the mean of a few days has no interval", name)
	}
}

// TestTheHeadline: it has no mean, and of few days it says that more may be lost.
func TestTheHeadline(t *testing.T) {
	wild := func(days int) History {
		return historyOf(independent(100, 1000)(rand.New(rand.NewPCG(2, 2)), days))
	}
	for days, want := range map[int]string{
		4:    "Of 100 such accounts between 0 and 100 are lost within 60 days; 4 days cannot say it closer, and a more restless market would lose more. Between 0 and 100 pass.",
		120:  "Of 100 such accounts between 1 and at least 81 are lost within 60 days; 120 days cannot say it closer, and a more restless market would lose more. Between 1 (or fewer) and 88 pass.",
		1000: "Of 100 such accounts between 8 and 61 are lost within 60 days; 1000 days cannot say it closer, and a more restless market would lose more. Between 12 and 59 pass.",
	} {
		f := forecast(t, wild(days), quick(challenge()))
		assert.Empty(t, f.Refused)
		assert.Equal(t, want, f.Headline())
		assert.True(t, strings.HasPrefix(f.String(), "chances       "+want))
		assert.Equal(t, days < EnoughDays, strings.Contains(f.String(), "assumed       regime: "))
	}
	for days, factor := range map[int]string{60: "2.2", 1000: "1.5"} {
		assert.Contains(t, forecast(t, wild(days), quick(challenge())).String(), "days as restless as these; the years' volatility may differ by a factor of "+factor)
	}
	f := forecast(t, historyOf(independent(300, 150)(rand.New(rand.NewPCG(1, 1)), 300)), quick(challenge()))
	assert.Equal(t, trading.Some(5), f.Unseen)
	assert.Contains(t, f.String(), "It has the days of 5 accounts, and no loss: that allows 52 %")
	assert.Greater(t, chanceOf(t, f.Lose).High, 0.52)
}

func TestSeedsFixEverything(t *testing.T) {
	o := quick(challenge())
	o.Jump = nil
	one, other := forecast(t, steady(200), o), forecast(t, steady(200), o)
	require.Equal(t, one, other)
	o.Seed = 1
	require.NotEqual(t, one.ByDay, forecast(t, steady(200), o).ByDay)
}

// Where the contract leaves open what the daily floor does, each reading is judged.
func TestTheWorseReadingIsTheHeadline(t *testing.T) {
	h := historyOf(independent(300, 1500)(rand.New(rand.NewPCG(3, 1)), 3000))
	o := quick(challenge())
	f := forecast(t, h, o)
	require.Len(t, f.Readings, 2, "nothing is held at midnight: moving readings are one")
	for _, r := range f.Readings {
		require.GreaterOrEqual(t, r.Pass.Mean, chanceOf(t, f.Pass).Mean)
	}
	require.Equal(t, fixed, f.Reading, "this one loses accounts that a floor spares that falls with the balance")
	for i := range h.Days { // now positions are held
		h.Days[i].End.Flat = false
	}
	require.Len(t, forecast(t, h, o).Readings, 4)
	o.Rules.Daily, o.Rules.Anchor = backtest.MovingFloor, AtEquity
	f = forecast(t, h, o)
	require.Len(t, f.Readings, 1)
	require.Equal(t, "moving with the equity", f.Reading.String())
}

// The floors of a path are those that package protect computes.
func TestFloorsAreThoseOfProtect(t *testing.T) {
	rules := challenge()
	rules.Daily = backtest.MovingFloor
	list := rules.rules(Options{Rules: rules, Jump: &Jump{}}, true)
	require.Len(t, list, 1)
	for _, balance := range []string{"100000", "97123.45", "108765.43", "50000.01"} {
		w := walker{rule: &list[0]}
		w.midnight(trading.Dec(balance).InexactFloat64(), 0)
		want := protect.MovedFloor(trading.Dec("95000"), trading.Dec("100000"), trading.Dec(balance))
		require.InDelta(t, want.InexactFloat64(), w.daily, 0.005001)
	}
}

// one is an account with one kind of day.
func one(d day, extremes []float64, change func(*rule)) (walker, *tracks) {
	r := simple()
	if change != nil {
		change(&r)
	}
	s := &series{}
	s.append(d.end, extremes)
	s.days[0].gross, s.days[0].unrealized = d.gross, d.unrealized
	s.cut(1)
	e := engine{series: s}
	t := e.tracks(s.whole(), 0)
	t.begin()
	return walker{rule: &r}, t
}

func TestADayOfAPath(t *testing.T) {
	for name, c := range map[string]struct {
		day      day
		extremes []float64
		change   func(*rule)
		want     result
		on       int32
	}{
		"nothing happens":            {day{end: 0}, nil, nil, undecided, 3},
		"exactly at the floor":       {day{end: 0}, []float64{-5000, 0}, nil, lost, 0},
		"a cent above it":            {day{end: 0}, []float64{-4999.99, 0}, nil, undecided, 3},
		"the low comes first":        {day{end: 0}, []float64{-5000, 11000, 0}, nil, lost, 0},
		"the high comes first":       {day{end: 0}, []float64{11000, -5000, 0}, nil, passed, 0},
		"fees of leaving at a pass":  {day{end: 0, gross: 100_000}, []float64{10_000, 0}, func(r *rule) { r.fee = 0.00045 }, undecided, 3},
		"with them earned":           {day{end: 0, gross: 100_000}, []float64{10_045, 0}, func(r *rule) { r.fee = 0.00045 }, passed, 0},
		"at twice the size":          {day{end: 0}, []float64{5000, 0}, func(r *rule) { r.scale = 2 }, passed, 0},
		"on the second day":          {day{end: 6000}, []float64{6000}, nil, passed, 1},
		"minimum days":               {day{end: 6000}, []float64{6000}, func(r *rule) { r.minDays = 3 }, passed, 2},
		"best day of half":           {day{end: 10_500}, []float64{10_500}, func(r *rule) { r.share = 0.5 }, passed, 1},
		"best day of a fifth":        {day{end: 10_500}, []float64{10_500}, func(r *rule) { r.share = 0.2 }, undecided, 3},
		"a floor that moves up":      {day{end: 3000, unrealized: -20_000}, []float64{3000}, func(r *rule) { r.anchor, r.moves, r.daily = AtBalance, 0.95, 95_000 }, lost, 1},
		"a floor by the equity":      {day{end: 3000, unrealized: -20_000}, []float64{3000}, func(r *rule) { r.anchor, r.moves, r.daily = AtEquity, 0.95, 95_000 }, undecided, 3},
		"protected at its line":      {day{end: -4900, gross: 1000}, []float64{-4900}, func(r *rule) { r.guard = &guard{line: 0.5, entry: 0.6} }, held, 0},
		"protected and resumed":      {day{end: -4900, gross: 1000}, []float64{-4900}, func(r *rule) { r.guard = &guard{line: 0.5, entry: 0.6, days: 1} }, undecided, 3},
		"no room for the positions":  {day{end: -5000, gross: 10_000}, []float64{-5000}, func(r *rule) { r.guard = &guard{line: 0.5, entry: 0.6} }, undecided, 3},
		"what is never traded away":  {day{end: -4800, gross: 100}, []float64{-4800}, func(r *rule) { r.guard = &guard{line: 0.1, entry: 0.1, keep: 500} }, undecided, 3},
		"a protection does not pass": {day{end: 11_000}, []float64{11_000}, func(r *rule) { r.guard = &guard{line: 0.5} }, passed, 0},
	} {
		w, tr := one(c.day, c.extremes, c.change)
		end := w.run(tr, 3)
		assert.Equal(t, c.want, end.result, name)
		assert.Equal(t, c.on, end.day, name)
	}
}

// A jump takes its share of the largest position, once in so many days.
func TestJumps(t *testing.T) {
	w, tr := one(day{gross: 10_000}, []float64{0}, func(r *rule) { r.shock = 0.005 })
	tr.rate = 0.1
	n := 0
	for range 400 {
		tr.begin()
		end := w.run(tr, 100)
		n += jumpsIn(tr.jumps)
		require.InDelta(t, 100_000-50*float64(jumpsIn(tr.jumps)), end.equity, 1e-6)
	}
	require.InDelta(t, 0.1, float64(n)/float64(400*100), 0.01)
	f := forecast(t, steady(90), Options{Rules: challenge(), Horizon: 30, Outer: 40, Inner: 40})
	require.Contains(t, f.String(), "jumps: 0.5 % of the price against the largest position of a day, 1 times a year")
}

func jumpsIn(list []bool) (n int) {
	for _, jump := range list {
		if jump {
			n++
		}
	}
	return n
}

func TestPhasesMultiply(t *testing.T) {
	h := historyOf(independent(100, 800)(rand.New(rand.NewPCG(4, 1)), 4000))
	o := quick(challenge())
	single := chanceOf(t, forecast(t, h, o).Pass).Mean
	o.Then = []Rules{challenge()}
	f := forecast(t, h, o)
	require.Equal(t, 2, f.Phases)
	require.InDelta(t, single*single, chanceOf(t, f.Pass).Mean, 0.03)
	require.InDelta(t, 1, chanceOf(t, f.Pass).Mean+chanceOf(t, f.Lose).Mean+chanceOf(t, f.Undecided).Mean, 1e-9)
}

func TestProtectionIsStated(t *testing.T) {
	o := quick(challenge())
	o.Protection = &Protection{LeverageCap: trading.Dec("5")}
	f := forecast(t, steady(90), o)
	require.Contains(t, f.String(), "a flattened account is never resumed")
	o.Protection.Resume = 1
	require.Contains(t, forecast(t, steady(90), o).String(), "resumed the next day")
}

// A block is cut only where nothing is held, unless that is hardly ever so.
func TestCutsAreWhereNothingIsHeld(t *testing.T) {
	h := steady(120)
	for i := range h.Days {
		h.Days[i].End.Flat = i%2 == 1
	}
	s := newSeries(h)
	require.False(t, s.marked)
	s.cut(1)
	var drawn sample
	s.resample(s.whole(), &drawn, rand.NewPCG(1, 1))
	for i := 1; i < len(drawn.dates); i++ {
		if drawn.dates[i-1]%2 == 0 {
			require.Equal(t, drawn.dates[i-1]+1, drawn.dates[i], "a position is open over this midnight")
		}
	}
	require.Contains(t, forecast(t, h, quick(challenge())).String(), "blocks are cut only where the account was flat; at 60 midnights it was not")
	for i := range h.Days {
		h.Days[i].End.Flat = i%10 == 1
	}
	require.Contains(t, forecast(t, h, quick(challenge())).String(), "marked to market: only 12 midnights were flat")
}

func TestBadOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"Rules.Opening is 0":          func(o *Options) { o.Rules.Opening = decimal.Zero },
		"neither a floor nor":         func(o *Options) { o.Rules = Rules{Opening: trading.Dec("1")} },
		"Rules.MinDays is -1":         func(o *Options) { o.Rules.MinDays = -1 },
		"Rules.TakerFee is 1":         func(o *Options) { o.Rules.TakerFee = dollars("1") },
		"Rules.BestDay is 2":          func(o *Options) { o.Rules.BestDay = dollars("2") },
		"Options.Horizon is -1":       func(o *Options) { o.Horizon = -1 },
		"Options.Outer is 5":          func(o *Options) { o.Outer = 5 },
		"Options.Block is 0.5":        func(o *Options) { o.Block = 0.5 },
		"Options.Jump is 2":           func(o *Options) { o.Jump = &Jump{Size: trading.Dec("2")} },
		"Protection.Resume is -1":     func(o *Options) { o.Protection = &Protection{Resume: -1} },
		"Selected.Of is 1":            func(o *Options) { o.Selected = &Selected{Of: 1} },
		"Others has 0 histories":      func(o *Options) { o.Selected = &Selected{Of: 3} },
		"Size.Payoff and Size.Fee":    func(o *Options) { o.Size = &Size{Payoff: dollars("5")} },
		"Rerun.Scale is 0":            func(o *Options) { o.Size = &Size{Reruns: []Rerun{{}}} },
		"Options.Then follows a pass": func(o *Options) { o.Rules.Target = trading.Opt[decimal.Decimal]{}; o.Then = []Rules{challenge()} },
		"among the constants":         func(o *Options) { o.Rules.Anchor = 9 },
	} {
		o := quick(challenge())
		change(&o)
		_, err := Of(steady(90), o)
		assert.ErrorContains(t, err, want)
	}
}

func TestRulesOfAnAccount(t *testing.T) {
	state := trading.AccountState{
		ID: "acc_1", Status: trading.StatusActive, Balance: trading.Dec("101000"), Equity: trading.Dec("100500"),
		DailyLossFloor: dollars("96000"), GlobalLossFloor: dollars("90000"), ProfitTarget: dollars("110000"),
	}
	positions := trading.Positions{{Symbol: "BTC", Notional: dollars("-20000")}}
	r, err := RulesOf(state, positions)
	require.NoError(t, err)
	require.Equal(t, "20000", r.Open.String())
	list := r.rules(Options{Rules: r, Jump: &Jump{}}, true)
	require.InDelta(t, 100_500-9, list[0].start, 1e-9, "less the fee of leaving")
	_, err = RulesOf(state, trading.Positions{{Symbol: "BTC"}})
	require.ErrorContains(t, err, "the position in BTC has no price")
	state.Status = trading.StatusFailed
	_, err = RulesOf(state, nil)
	require.ErrorContains(t, err, `account "acc_1" is FAILED: it takes no entries`)
	require.NoError(t, RulesOfTerms(backtest.Terms{Opening: trading.Dec("100000"), DailyLossFloor: trading.Dec("95000"), GlobalLossFloor: trading.Dec("90000"), ProfitTarget: trading.Dec("110000")}).check())
	dear := RulesOfTerms(backtest.Terms{Opening: trading.Dec("100000"), ProfitTarget: trading.Dec("110000"), TakerFee: trading.Some(trading.Dec("0.0045"))})
	dear.Open = trading.Dec("10000")
	for _, r := range dear.rules(Options{}, false) {
		assert.InDelta(t, 0.0045, r.fee, 1e-12)
		assert.InDelta(t, 100_000-45, r.start, 1e-9)
	}
}

func TestSelectedIsCut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	best := steady(300)
	var others []History
	for range 9 {
		others = append(others, historyOf(independent(0, 400)(r, 300)))
	}
	o := quick(challenge())
	plain := chanceOf(t, forecast(t, best, o).Pass).Mean
	o.Selected = &Selected{Of: 10, Others: others}
	f := forecast(t, best, o)
	require.NotNil(t, f.Haircut)
	require.Greater(t, f.Haircut.Daily, 0.0)
	require.LessOrEqual(t, chanceOf(t, f.Pass).Mean, plain)
	require.Contains(t, f.String(), "best of 10: deflated Sharpe")
	o.Selected.Others[3] = historyOf(make([]float64, 200))
	_, err := Of(best, o)
	require.ErrorContains(t, err, "all must have the same")
}
