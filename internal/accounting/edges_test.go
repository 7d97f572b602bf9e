package accounting

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// The facts at which a verdict turns, each beside the nearest that decides otherwise.

// edge is a held write of one unit on a declared account that was flat, changed.
func edge(k ActKind, change ...func(*seen)) seen {
	f := seen{At: at(lookTime), Facts: Facts{
		Asked: Act{Kind: k, Side: Long, Size: num("1"), Percent: num("50"), Sent: 1}, Symbol: "X", From: served(fromTime),
		Held: true, Exclusive: true,
		Look: State{Status: "ACTIVE"}, EqualLooks: 3,
	}, Base: &seenBase{Base: Base{Status: "ACTIVE"}, Rows: past}}
	f.Look.Rows = past
	for _, c := range change {
		c(&f)
	}
	return f
}

func holding(was, is string) func(*seen) {
	return func(f *seen) { f.Base.Position, f.Look.Position.Size = num(was), num(is) }
}

func closedRows(rows ...Row) func(*seen) {
	return func(f *seen) {
		for i := range rows {
			rows[i].Digest = uint64(i + 1)
		}
		f.Look.Rows = slices.Concat(rows, past)
	}
}

// past are trades of another market, before the baseline.
var past = []Row{{Symbol: "Y", Digest: 101, ClosedAt: served(fromTime - 1)}, {Symbol: "Y", Digest: 102, ClosedAt: served(fromTime - 1)}, {Symbol: "Y", Digest: 103, ClosedAt: served(fromTime - 1)}}

// traded is a row of so much of a side.
func traded(side Direction, size string, cause Cause) Row {
	return Row{Symbol: "X", Side: side, Cause: cause, Size: opt(size), ClosedAt: served(fromTime + 1)}
}

func by(own ...Own) func(*seen) {
	return func(f *seen) {
		for i := range own {
			own[i].Heard, own[i].Ran = at(30), true
		}
		f.Own = own
	}
}

func of(state func(*State)) func(*seen) { return func(f *seen) { state(&f.Look) } }

func based(change func(*seenBase)) func(*seen) { return func(f *seen) { change(f.Base) } }

func noBaseline(f *seen) { f.Base = nil }

func gone(f *seen) { f.Held, f.Gone = false, true }

func notAlone(f *seen) { f.Exclusive = false }
func resets(f *seen)   { f.Exclusive, f.Resets = false, true }

func passed(f *seen) { f.Look.Status = "PASSED" }

func known(ids ...string) func(*seen) {
	return func(f *seen) {
		f.Known = map[string]bool{}
		for _, id := range ids {
			f.Known[id] = true
		}
	}
}

func TestWhereAVerdictTurns(t *testing.T) {
	elsewhere := func(at int8) Row { return Row{Symbol: "Y", ClosedAt: served(at)} }
	many := func(n int, oldest int8) []Row {
		return append(slices.Repeat([]Row{elsewhere(fromTime + 1)}, n-1), elsewhere(oldest))
	}
	finished := func(n int) func(*seen) {
		ids := runs(n)
		return func(f *seen) {
			known(ids...)(f)
			f.Look.Finished = newest(ids)
		}
	}
	ended := func(before []string, now Newest) func(*seen) {
		return func(f *seen) { f.Base.Finished, f.Look.Finished = newest(before), now }
	}
	rests := Own{Act: Act{Kind: Limit, Side: Long, Size: num("0.5")}}
	run := Own{Act: Act{Kind: Pro}}
	sells := Own{Act: Act{Kind: Limit, Side: Short, Size: num("0.5")}}
	sold := func(sent, ended int) func(*seen) { // beside one that was sent at 10, and over at 20
		return func(f *seen) {
			by(Own{Act: Act{Kind: Entry, Side: Short, Size: num("1"), Sent: sent, Ended: ended}})(f)
			f.Asked.Sent, f.Asked.Ended, f.Exclusive = 10, 20, false
		}
	}
	older := func(n, kept int, timed bool) func(*seen) { // n trades, of which the baseline had the last
		rows := make([]Row, n)
		for i := range rows {
			if rows[i] = (Row{Symbol: "Y", Digest: uint64(i)}); timed {
				rows[i].ClosedAt = served(fromTime - 1)
			}
		}
		return func(f *seen) { f.Look.Rows, f.Base.Rows = rows, rows[n-kept:] }
	}
	repeated := func(f *seen) { // trades without times, of which the newer half looks like the older
		older(20, 20, false)(f)
		for i := range 10 {
			f.Look.Rows[i].Digest = f.Look.Rows[i+10].Digest
		}
	}
	for name, c := range map[string]struct {
		f    seen
		want Reason
		is   ledger.Outcome
	}{
		"flat, and another market traded":          {edge(Entry, noBaseline, closedRows(elsewhere(fromTime+1))), NoTrace, ledger.NotApplied},
		"nine tenths, without a baseline":          {edge(Entry, noBaseline, of(func(l *State) { l.Position.Size = num("0.9") })), NoBaseline, ledger.Unknown},
		"flat, and its own did":                    {edge(Entry, noBaseline, closedRows(traded(Long, "1", Market))), NoBaseline, ledger.Unknown},
		"of after it":                              {edge(Entry, holding("1", "1"), based(func(b *seenBase) { b.At = 1 })), NoBaseline, ledger.Unknown},
		"flat, and its own did before":             {edge(Entry, noBaseline, closedRows(Row{Symbol: "X", ClosedAt: served(fromTime - 1)})), NoTrace, ledger.NotApplied},
		"flat, and one that is not shown did":      {edge(Entry, noBaseline, closedRows(Row{ClosedAt: served(fromTime + 1)})), NoBaseline, ledger.Unknown},
		"flat, and the list may be cut":            {edge(Entry, noBaseline, of(func(l *State) { l.Rows = many(ListCut, fromTime) })), NoBaseline, ledger.Unknown},
		"flat, and it reaches back":                {edge(Entry, noBaseline, closedRows(many(ListCut, fromTime-1)...)), NoTrace, ledger.NotApplied},
		"flat, and it is shorter":                  {edge(Entry, noBaseline, closedRows(many(ListCut-1, fromTime)...)), NoTrace, ledger.NotApplied},
		"flat, and a run has ended, of an order":   {edge(Entry, noBaseline, of(func(l *State) { l.Finished = newest(runs(1)) })), NoTrace, ledger.NotApplied},
		"flat, and a run has ended, of a run":      {edge(Pro, noBaseline, of(func(l *State) { l.Finished = newest(runs(1)) })), NoBaseline, ledger.Unknown},
		"flat, and known runs have":                {edge(Pro, noBaseline, finished(ListCut-1)), NoBaseline, ledger.Unknown},
		"flat, and more may have":                  {edge(Pro, noBaseline, finished(ListCut)), NoBaseline, ledger.Unknown},
		"gone, an order":                           {edge(Entry, gone), NoTrace, ledger.NotApplied},
		"gone, an order beside others":             {edge(Entry, gone, notAlone), NoTrace, ledger.NotApplied},
		"flat, and somebody may have reset it":     {edge(Entry, resets), MayBeReset, ledger.Unknown},
		"gone, a limit":                            {edge(Limit, gone), NoTrace, ledger.NotApplied},
		"gone, a limit that others may have ended": {edge(Limit, gone, notAlone), NotHeld, ledger.Unknown},
		"gone, a limit that the status may have":   {edge(Limit, gone, passed), NotHeld, ledger.Unknown},
		"gone, a limit without a baseline":         {edge(Limit, gone, noBaseline), NotHeld, ledger.Unknown},
		"gone, a run that no status ends":          {edge(Pro, gone, passed), NoTrace, ledger.NotApplied},
		"gone, a run without a baseline":           {edge(Pro, gone, noBaseline), NoTrace, ledger.NotApplied},
		"gone, a run that others may have ended":   {edge(Pro, gone, notAlone), NotHeld, ledger.Unknown},
		"a limit that rests":                       {edge(Limit, of(func(l *State) { l.Orders = []string{"new"} })), OneNewID, ledger.Applied},
		"a limit that rests beside another":        {edge(Limit, of(func(l *State) { l.Orders = []string{"new"} }), by(rests)), OneNewID, ledger.Applied},
		"a limit that rests beside a run":          {edge(Limit, of(func(l *State) { l.Orders = []string{"new"} }), by(run)), BothFit, ledger.Unknown},
		"a run beside another":                     {edge(Pro, of(func(l *State) { l.Runs = []string{"new"} }), by(run)), OneNewID, ledger.Applied},
		"two runs":                                 {edge(Pro, of(func(l *State) { l.Runs = []string{"new", "newer"} })), NothingFits, ledger.Unknown},
		"a limit that rested before":               {edge(Limit, based(func(b *seenBase) { b.Orders = []string{"old"} }), of(func(l *State) { l.Orders = []string{"old"} })), NoTrace, ledger.NotApplied},
		"a limit of the program's":                 {edge(Limit, known("own"), of(func(l *State) { l.Orders = []string{"own"} })), NoTrace, ledger.NotApplied},
		"bought":                                   {edge(Entry, holding("0", "1")), ReplayFits, ledger.Applied},
		"bought nine tenths":                       {edge(Entry, holding("0", "0.9")), NothingFits, ledger.Unknown},
		"nine tenths, beside others":               {edge(Entry, holding("0", "0.9"), notAlone), NotExclusive, ledger.Unknown},
		"less, beside others":                      {edge(Entry, holding("0", "0.89"), notAlone), NoTrace, ledger.NotApplied},
		"closed by a share that is not named":      {edge(Close, func(f *seen) { f.Asked.Percent = num("0") }, holding("1", "0.9"), closedRows(traded(Long, "0.1", Market))), ReplayFits, ledger.Applied},
		"sizes too fine, and nothing happened":     {edge(Entry, func(f *seen) { f.Asked.Size = num("1.123456789012345678") }), NoTrace, ledger.NotApplied},
		"sizes too fine, and something was bought": {edge(Entry, func(f *seen) { f.Asked.Size = num("1.123456789012345678") }, holding("0", "1")), SizesTooFine, ledger.Unknown},
		"a limit that filled in part":              {edge(Limit, holding("0", "0.01")), ReplayFits, ledger.Applied},
		"a limit that filled twice":                {edge(Limit, holding("-0.7", "0"), closedRows(traded(Short, "0.3", Market), traded(Short, "0.4", Market))), ReplayFits, ledger.Applied},
		"a limit that would have filled too much":  {edge(Limit, holding("-1.7", "0"), closedRows(traded(Short, "0.7", Market), traded(Short, "1", Market))), NothingFits, ledger.Unknown},
		"turned":                                       {edge(Entry, holding("-0.4", "0.6"), closedRows(traded(Short, "0.4", Market))), ReplayFits, ledger.Applied},
		"turned by a stop, and more was bought":        {edge(Entry, holding("-0.4", "0.6"), closedRows(traded(Short, "0.4", StopLoss))), NothingFits, ledger.Unknown},
		"bought beside one that rests":                 {edge(Entry, holding("0", "1"), by(rests)), ReplayFits, ledger.Applied},
		"turned beside one that rests":                 {edge(Entry, holding("-0.4", "0.6"), closedRows(traded(Short, "0.4", Market)), by(rests)), ReplayFits, ledger.Applied},
		"sold again beside one that rests":             {edge(Entry, holding("1", "1"), closedRows(traded(Long, "1", Market)), by(rests)), NothingFits, ledger.Unknown},
		"bought beside an own order":                   {edge(Entry, holding("0", "2"), by(Own{Act: Act{Kind: Entry, Side: Long, Size: num("1")}})), ReplayFits, ledger.Applied},
		"turned beside an own order":                   {edge(Entry, holding("-0.4", "1.6"), closedRows(traded(Short, "0.4", Market)), by(Own{Act: Act{Kind: Entry, Side: Long, Size: num("1")}})), ReplayFits, ledger.Applied},
		"reduced":                                      {edge(ReduceOnly, func(f *seen) { f.Asked.Side, f.Asked.Size = Short, num("0.5") }, holding("1", "0.5"), closedRows(traded(Long, "0.5", Market))), ReplayFits, ledger.Applied},
		"sold before it, and what closed was long":     {edge(Entry, closedRows(traded(Long, "1", Market)), sold(1, 5)), NoTrace, ledger.NotApplied},
		"sold beside it, and what closed was long":     {edge(Entry, closedRows(traded(Long, "1", Market)), sold(1, 15)), NotExclusive, ledger.Unknown},
		"sold after it, and what closed was short":     {edge(Entry, closedRows(traded(Short, "1", Market)), sold(25, 30)), NoTrace, ledger.NotApplied},
		"sold beside it, and what closed was short":    {edge(Entry, closedRows(traded(Short, "1", Market)), sold(15, 30)), NotExclusive, ledger.Unknown},
		"half closed":                                  {edge(Close, holding("1", "0.5"), closedRows(traded(Long, "0.5", Market))), ReplayFits, ledger.Applied},
		"closed by a share within 2 percent of it":     {edge(Close, holding("1", "0.49"), closedRows(traded(Long, "0.51", Market))), ReplayFits, ledger.Applied},
		"closed by more than the share":                {edge(Close, holding("1", "0.48"), closedRows(traded(Long, "0.52", Market))), NothingFits, ledger.Unknown},
		"closed by the share, and more is gone":        {edge(Close, holding("1", "0.48"), closedRows(traded(Long, "0.5", Market))), NothingFits, ledger.Unknown},
		"half closed beside one that rests, and buys":  {edge(Close, holding("1", "0.5"), closedRows(traded(Long, "0.5", Market)), by(rests)), ReplayFits, ledger.Applied},
		"half closed beside one that rests, and sells": {edge(Close, holding("1", "0.5"), closedRows(traded(Long, "0.5", Market)), by(sells)), BothFit, ledger.Unknown},
		"not closed beside an own order":               {edge(Close, holding("1", "2"), by(Own{Act: Act{Kind: Entry, Side: Long, Size: num("1")}})), NoTrace, ledger.NotApplied},
		"a trade of another market":                    {edge(Entry, closedRows(elsewhere(fromTime+1))), NoTrace, ledger.NotApplied},
		"a trade of a market that is not shown":        {edge(Entry, closedRows(Row{Side: Long, Size: opt("1"), ClosedAt: served(fromTime + 1)})), RowUnreadable, ledger.Unknown},
		"trades of before":                             {edge(Entry, older(3, 3, false)), NoTrace, ledger.NotApplied},
		"trades of before, and one is missing":         {edge(Entry, older(3, 3, false), of(func(l *State) { l.Rows = l.Rows[:2] })), NoTrace, ledger.NotApplied},
		"a list that may be cut, and shows three":      {edge(Entry, older(ListCut, minOverlap, false)), NoTrace, ledger.NotApplied},
		"a list that may be cut, and shows two":        {edge(Entry, older(ListCut, minOverlap-1, false)), NoBaseline, ledger.Unknown},
		"a list that may be cut, and shows a time":     {edge(Entry, older(ListCut, 1, true)), NoTrace, ledger.NotApplied},
		"a list that may be cut, and shows none":       {edge(Entry, older(ListCut, 0, false)), BothFit, ledger.Unknown},
		"a list that is shorter, and shows none":       {edge(Entry, older(ListCut-1, 0, false)), BothFit, ledger.Unknown},
		"a list that repeats":                          {edge(Entry, repeated), NoBaseline, ledger.Unknown},
		"a run, and one had ended":                     {edge(Pro, ended([]string{"a"}, newest([]string{"a"}))), NoTrace, ledger.NotApplied},
		"a run that has ended since":                   {edge(Pro, ended([]string{"a"}, newest([]string{"new", "a"}))), OneNewID, ledger.Applied},
		"a run, and none had ended":                    {edge(Pro, finished(ListCut-1)), NoTrace, ledger.NotApplied},
		"a run, none had ended, and a list is cut":     {edge(Pro, finished(ListCut)), ListIncomplete, ledger.Unknown},
		"a run, none had ended, and more than shown":   {edge(Pro, known("a"), ended(nil, Newest{IDs: []string{"a"}, More: ListCut - 1})), ListIncomplete, ledger.Unknown},
	} {
		v := judged(c.f)
		assert.Equal(t, c.want, v.Reason, name)
		assert.Equal(t, c.is, v.Outcome, name)
	}
}

func TestHowManyAreNotKept(t *testing.T) {
	assert.Equal(t, 44, newest(runs(maxNewest+44)).More)
	assert.Equal(t, 0, newest(runs(maxNewest)).More)
}

// D 44: a lost close's trade was given to an order that was answered beside it: a stop had closed
// what the order opened before the position in its answer was read.
func TestEdge44_ATradeOfAnotherWrite(t *testing.T) {
	flat := Own{Act: Act{Kind: Entry, Side: Short, Size: num("1")}}
	for name, c := range map[string]struct {
		rows          []Row
		want          ledger.Outcome
		alone, beside Reason
	}{
		"the close ran":      {[]Row{traded(Short, "1", StopLoss), traded(Long, "1", Market)}, ledger.Unknown, BothFit, NotExclusive},
		"it found it closed": {[]Row{traded(Long, "1", Market)}, ledger.NotApplied, NoTrace, NoTrace},
	} {
		for declared, why := range map[bool]Reason{true: c.alone, false: c.beside} {
			v := judged(edge(Close, holding("1", "0"), closedRows(slices.Clone(c.rows)...), by(flat), func(f *seen) { f.Asked.Percent, f.Exclusive = num("100"), declared }))
			if v.Outcome != c.want || v.Reason != why {
				t.Errorf("%s, declared %t: %d, %s", name, declared, v.Outcome, v.Reason)
			}
		}
	}
}

func TestOneLookDecidesNothing(t *testing.T) {
	once := func(f *seen) { f.EqualLooks = 1 }
	for name, f := range map[string]seen{"it ran": edge(Entry, holding("0", "1"), once), "it did not": edge(Entry, once)} {
		assert.Equal(t, Verdict{Reason: LookAgain}, judged(f), name)
	}
	for likely, f := range map[ledger.Outcome]seen{
		ledger.Applied: edge(Pro, of(func(l *State) { l.Runs = []string{"new"} }), once), ledger.NotApplied: edge(Pro, once),
	} {
		assert.Equal(t, Verdict{Reason: LookAgain, Likely: likely}, judged(f))
	}
}
