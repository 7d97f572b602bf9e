package observe

import (
	"time"

	"github.com/shopspring/decimal"
)

// The scripts of accounts that trade. What they send beside their votes is judged as a recording is.
const (
	scriptFlip     = "flip"
	scriptFee      = "fee"
	scriptNulls    = "nulls"
	scriptSlippage = "slippage"
	scriptLeverage = "leverage"
	scriptFraction = "fraction"
	scriptEmpty    = "empty"
	scriptDust     = "dust"
	scriptOwners   = "owners"

	scriptStored = "stored"
	scriptShapes = "shapes"
	scriptRests  = "rests"
	scriptParts  = "parts"
	scriptTwins  = "twins"
)

const (
	paperOrder = `{"symbol":"@symbol","side":"long","size":@one}`
	trialOrder = `{"accountId":"@account","symbol":"@symbol","side":"long","size":@one,"leverage":2}`
	positions  = "/positions?accountId=@account"
	trades     = "/trades?accountId=@account"
)

var paperScripts = []script{
	{scriptFlip, enoughRounds, []step{{path: "/sandbox/orders", body: paperOrder}, {path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"short","size":@two}`}}},
	{scriptFee, enoughRounds, []step{
		{path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"long","size":@ten}`}, {path: "/sandbox/positions/close", body: `{"symbol":"@symbol"}`},
		{read: "/sandbox/trades", wait: readsSettle},
	}},
	{scriptNulls, enoughRounds, []step{{path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"long","size":@one,"takeProfitPrice":null,"stopLossPrice":null}`}}},
	{scriptSlippage, enoughRounds, []step{{path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"long","size":@one,"orderType":"limit","limitPrice":@far,"maxSlippagePct":99}`}}},
	{scriptLeverage, enoughRounds, []step{
		{path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"long","size":@one,"leverage":2}`}, {path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"long","size":@one,"leverage":1}`},
	}},
	{scriptFraction, enoughRounds, []step{
		{read: "/sandbox/positions"}, {path: "/sandbox/orders", body: paperOrder}, {path: "/sandbox/positions/close", body: `{"symbol":"@symbol","pct":12.5}`},
	}},
	{scriptEmpty, enoughRounds, []step{{path: "/sandbox/positions/close"}}},
	{scriptDust, enoughRounds, []step{{path: "/sandbox/orders", body: paperOrder}, {path: "/sandbox/orders", body: `{"symbol":"@symbol","side":"short","size":@dust}`}}},
}

var trialScripts = []script{
	{scriptStored, enoughRounds, []step{{read: positions}, {path: "/orders", body: trialOrder}, {read: positions, until: true}, {again: true}}},
	{scriptShapes, enoughRounds, []step{
		{path: "/orders", body: trialOrder},
		{path: "/orders/limit", body: `{"accountId":"@account","symbol":"@symbol","side":"long","size":@one,"leverage":2,"limitPrice":@far}`}, {cancel: true},
		{path: "/positions/close", body: `{"accountId":"@account","symbol":"@symbol","closePercent":50.5}`}, {read: trades, wait: readsSettle},
		{path: "/positions/close", body: `{"accountId":"@account","symbol":"@symbol","closePercent":0.5}`},
		{path: "/positions/close", body: `{"accountId":"@account","symbol":"@symbol","closePercent":101}`},
		{path: "/positions/close", body: `{"accountId":"@account","symbol":"@symbol"}`}, {read: trades, wait: readsSettle},
		{path: "/positions/close", body: `{"accountId":"@account","symbol":"@symbol"}`},
		{path: "/positions/tpsl", body: `{"accountId":"@account","symbol":"@symbol","stopLossPrice":@far,"takeProfitPrice":null}`},
		{path: "/orders", body: `{"accountId":"@account","symbol":"@symbol","side":"short","size":@one,"leverage":2,"reduceOnly":true}`},
		{path: "/orders", body: `{"accountId":"@account","symbol":"NO-SUCH-MARKET","side":"long","size":@one,"leverage":2}`},
		{path: "/orders/limit", body: trialOrder},
		{path: "/orders/twap", body: `{"accountId":"@account","symbol":"@symbol","side":"long","size":@two,"leverage":2,"durationMs":1}`},
	}},
	{scriptRests, enoughRounds, []step{
		{path: "/orders/limit", body: `{"accountId":"@account","symbol":"@symbol","side":"long","size":@one,"leverage":2,"limitPrice":@above}`}, {read: positions, wait: 2 * readsSettle},
	}},
	{scriptParts, enoughRounds, []step{
		{path: "/orders/twap", body: `{"accountId":"@account","symbol":"@symbol","side":"long","size":@odd,"leverage":2,"durationMs":60000}`},
		{read: positions, wait: 2 * readsSettle}, {read: positions, wait: time.Minute + readsSettle},
	}},
	{scriptTwins, enoughRounds, []step{{path: "/orders", body: trialOrder, atOnce: true}, {read: positions, wait: 2 * readsSettle}}},
}

// took returns the sizes of a position with its sign, as a write's answer has it; "0" for none.
func took(x *Exchange) string { return signed(member(x.Response, "position")).size }

func sizeOf(x *Exchange) string { return number(member(x.Request, "size")) }

// voteFlip: two units against one leave one on the other side, or two.
func voteFlip(r *Round, t *Tally) {
	was, is := r.at(0), r.at(1)
	if was == nil || is == nil || !was.success() || !is.success() {
		return
	}
	switch took(is) {
	case "short " + sizeOf(was):
		t.first(was, is)
	case "short " + sizeOf(is):
		t.other(was, is)
	default:
		t.neither("an opposite order left a position that neither reading foresees", was, is)
	}
}

// voteFee compares the fee of a close with that of the trade's row, which is of the round trip.
func voteFee(r *Round, t *Tally) {
	closed, read := r.at(1), r.at(2)
	if closed == nil || read == nil || !closed.success() {
		return
	}
	list, _ := rows(read.Response, "trades")
	if len(list) == 0 {
		return
	}
	fee, err := decimal.NewFromString(number(member(member(closed.Response, "closed"), "fee")))
	whole, errRow := decimal.NewFromString(number(list[0]["fee"]))
	if err != nil || errRow != nil || !whole.IsPositive() {
		return
	}
	share := fee.Div(whole)
	near := func(at string) bool {
		return share.Sub(decimal.RequireFromString(at)).Abs().LessThan(decimal.RequireFromString("0.1"))
	}
	switch {
	case near("1"):
		t.first(closed, read)
	case near("0.5"):
		t.other(closed, read)
	default:
		t.neither("the fee of a close is neither that of the round trip nor of the leg", closed, read)
	}
}

// voteNulls: null levels are refused, or count as left out.
func voteNulls(r *Round, t *Tally) {
	if x := r.at(0); x != nil && (x.success() || x.Code == "bad_request" || x.Code == "invalid_tpsl") {
		t.either(!x.success(), x)
	}
}

func voteSlippage(r *Round, t *Tally) {
	if x := r.at(0); x != nil && (x.success() || x.Code == "BAD_MAX_SLIPPAGE" || x.Code == "order_not_marketable") {
		t.either(x.Code == "BAD_MAX_SLIPPAGE", x)
	}
}

// voteLeverage: an add of leverage 1 to a position of 2.
func voteLeverage(r *Round, t *Tally) {
	was, is := r.at(0), r.at(1)
	if was == nil || is == nil || !was.success() || !is.success() || number(member(member(was.Response, "position"), "leverage")) != "2" {
		return
	}
	switch number(member(member(is.Response, "position"), "leverage")) {
	case "1":
		t.first(was, is)
	case "2":
		t.other(was, is)
	default:
		t.neither("an add left a leverage that neither reading foresees", was, is)
	}
}

func voteEmpty(r *Round, t *Tally) {
	switch x := r.at(0); {
	case x == nil:
	case x.Code == "invalid_json":
		t.first(x)
	case x.Code == "bad_symbol", x.Code == "missing_fields":
		t.other(x)
	default:
		t.neither("an empty body was answered by neither reading", x)
	}
}

// voteDust: an excess of a billionth is an entry, of which there is a smallest, or nothing.
func voteDust(r *Round, t *Tally) {
	was, is := r.at(0), r.at(1)
	if was == nil || is == nil || !was.success() {
		return
	}
	switch {
	case is.Code == "MIN_NOTIONAL", is.success() && took(is) != "0":
		t.first(was, is)
	case is.success():
		t.other(was, is)
	}
}

// voteOwners: two sandbox keys of one holder reach one account.
func voteOwners(r *Round, t *Tally) {
	a, b := r.at(0), r.at(1)
	if a == nil || b == nil || !a.success() || !b.success() {
		return
	}
	one, other := text(member(member(a.Response, "account"), "id")), text(member(member(b.Response, "account"), "id"))
	if one != "" && other != "" {
		t.either(one == other, a, b)
	}
}

// entryOf is the entry price of the one position of a read.
func entryOf(x *Exchange) (price, size decimal.Decimal, ok bool) {
	list, _ := rows(x.Response, "positions")
	if len(list) != 1 {
		return price, size, false
	}
	price, err := decimal.NewFromString(number(list[0]["entryPrice"]))
	size, errSize := decimal.NewFromString(number(list[0]["size"]))
	return price, size, err == nil && errSize == nil
}

// voteRests: a limit that was reached when it came fills at its own price, or at the market's, which was less.
func voteRests(r *Round, t *Tally) {
	placed, read := r.at(0), r.at(1)
	if placed == nil || read == nil || !placed.success() {
		return
	}
	limit, err := decimal.NewFromString(number(member(placed.Request, "limitPrice")))
	entry, _, ok := entryOf(read)
	switch {
	case err != nil || !ok:
	case entry.Equal(limit):
		t.first(placed, read)
	case entry.LessThan(limit):
		t.other(placed, read)
	default:
		t.neither("a limit to buy filled above its price", placed, read)
	}
}

// voteClip: soon after it began, a TWAP has filled nothing, or its first part.
func voteClip(r *Round, t *Tally) {
	placed, read := r.at(0), r.at(1)
	if placed == nil || read == nil || !placed.success() {
		return
	}
	if list, ok := rows(read.Response, "positions"); ok {
		t.either(len(list) == 0, placed, read)
	}
}

// voteParts: the parts of a run of an odd size add up to it, or lose what the eighth decimal cuts.
func voteParts(r *Round, t *Tally) {
	placed, read := r.at(0), r.at(2)
	if placed == nil || read == nil || !placed.success() {
		return
	}
	wanted, err := decimal.NewFromString(sizeOf(placed))
	_, size, ok := entryOf(read)
	switch {
	case err != nil || !ok:
	case size.Equal(wanted):
		t.first(placed, read)
	case size.LessThan(wanted) && wanted.Sub(size).LessThan(decimal.New(1, -6)):
		t.other(placed, read)
	}
}
