package odds

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/table"
)

// mostRows bounds a file.
const mostRows = 1_000_000

// ReadTrades reads trades as CSV. The heading names the columns, in any order:
//
//   - opened, closed: RFC 3339 with a zone, or a Unix time
//   - net, or gross and fees: dollars
//   - mae, mfe: the worst and the best profit while open, in dollars before fees; or side, size,
//     cost, worstPrice and bestPrice, as backtest.Result.WriteTrades writes them
//   - notional, or cost: what was opened, in dollars
//   - symbol, if you like
//
// Other columns are left out.
func ReadTrades(r io.Reader) ([]Trade, error) {
	f, err := table.Open(r)
	if errors.Is(err, io.EOF) {
		err = errors.New("no heading")
	}
	t := trades{f}
	if err == nil {
		err = t.complete()
	}
	var all []Trade
	for err == nil {
		if err = t.Next(); err != nil {
			break
		}
		if len(all) == mostRows {
			err = fmt.Errorf("more than %d rows", mostRows)
			break
		}
		all = append(all, t.trade())
		err = t.Err()
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("odds: trades: %w", err)
	}
	return all, nil
}

// trades are the rows of a file.
type trades struct{ *table.Table }

// prices are the columns that excursions can be computed of.
var prices = []string{"side", "size", "cost", "worstprice", "bestprice"}

// complete names the columns that are missing.
func (t trades) complete() error {
	var missing []string
	need := func(what string, ok bool) {
		if !ok {
			missing = append(missing, what)
		}
	}
	need("opened", t.Has("opened"))
	need("closed", t.Has("closed"))
	need("net (or gross and fees)", t.Has("net") || t.Has("gross", "fees"))
	need("mae and mfe (or side, size, cost, worstPrice and bestPrice)", t.Has("mae", "mfe") || t.Has(prices...))
	need("notional (or cost)", t.Has("notional") || t.Has("cost"))
	if len(missing) > 0 {
		return fmt.Errorf("these columns are missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func (t trades) trade() Trade {
	trade := Trade{Opened: t.time("opened"), Closed: t.time("closed")}
	if t.Has("symbol") {
		trade.Symbol = t.Text("symbol")
	}
	if t.Has("net") {
		trade.Net = t.Number("net")
	} else {
		trade.Net = t.Number("gross").Sub(t.Number("fees"))
	}
	name := "cost"
	if t.Has("notional") {
		name = "notional"
	}
	trade.Notional = trading.Some(t.Number(name).Abs())
	if t.Has("mae", "mfe") {
		trade.Worst, trade.Best = trading.Some(t.Number("mae")), trading.Some(t.Number("mfe"))
		return trade
	}
	size, cost := t.Number("size"), t.Number("cost")
	at := func(price decimal.Decimal) decimal.Decimal { return size.Mul(price).Sub(cost) }
	worst, best := at(t.Number("worstprice")), at(t.Number("bestprice"))
	switch side := strings.ToLower(t.Text("side")); side {
	case "long":
	case "short":
		worst, best = worst.Neg(), best.Neg()
	default:
		t.Fail("side", "%.20q is neither long nor short", side)
	}
	trade.Worst = trading.Some(decimal.Min(worst, decimal.Zero))
	trade.Best = trading.Some(decimal.Max(best, decimal.Zero))
	return trade
}

// time is that of a field; an empty one is not known.
func (t trades) time(name string) time.Time {
	if t.Text(name) == "" {
		return time.Time{}
	}
	return t.Time(name)
}
