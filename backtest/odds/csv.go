package odds

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// mostRows bounds a file.
const mostRows = 1_000_000

// ReadTrades reads trades as CSV. The heading names the columns, in any order:
//
//   - opened, closed: RFC 3339 with a zone
//   - net, or gross and fees: dollars
//   - mae, mfe: the worst and the best profit while open, in dollars before fees; or side, size,
//     cost, worstPrice and bestPrice, as backtest.Result.WriteTrades writes them
//   - notional, or cost: what was opened, in dollars
//   - symbol, if you like
//
// Other columns are left out.
func ReadTrades(r io.Reader) ([]Trade, error) {
	lines := csv.NewReader(r)
	lines.TrimLeadingSpace = true
	heading, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("odds: trades: no heading: %w", err)
	}
	t := table{columns: map[string]int{}}
	for i, name := range heading {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		if _, twice := t.columns[name]; twice {
			return nil, fmt.Errorf("odds: trades: column %q is there twice", name)
		}
		t.columns[name] = i
	}
	if err := t.complete(); err != nil {
		return nil, err
	}
	var all []Trade
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("odds: trades: %w", err)
		}
		if len(all) == mostRows {
			return nil, fmt.Errorf("odds: trades: more than %d rows", mostRows)
		}
		line, _ := lines.FieldPos(0)
		t.fields, t.line, t.err = fields, line, nil
		trade := t.trade()
		if t.err != nil {
			return nil, t.err
		}
		all = append(all, trade)
	}
}

// table reads the rows of a file.
type table struct {
	columns map[string]int
	fields  []string
	line    int
	err     error
}

func (t *table) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := t.columns[name]; return !ok })
}

// prices are the columns that excursions can be computed of.
var prices = []string{"side", "size", "cost", "worstprice", "bestprice"}

// complete names the columns that are missing.
func (t *table) complete() error {
	var missing []string
	need := func(what string, ok bool) {
		if !ok {
			missing = append(missing, what)
		}
	}
	need("opened", t.has("opened"))
	need("closed", t.has("closed"))
	need("net (or gross and fees)", t.has("net") || t.has("gross", "fees"))
	need("mae and mfe (or side, size, cost, worstPrice and bestPrice)", t.has("mae", "mfe") || t.has(prices...))
	need("notional (or cost)", t.has("notional") || t.has("cost"))
	if len(missing) > 0 {
		return fmt.Errorf("odds: trades: these columns are missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func (t *table) trade() Trade {
	trade := Trade{Opened: t.time("opened"), Closed: t.time("closed")}
	if t.has("symbol") {
		trade.Symbol = t.text("symbol")
	}
	if t.has("net") {
		trade.Net = t.number("net")
	} else {
		trade.Net = t.number("gross").Sub(t.number("fees"))
	}
	name := "cost"
	if t.has("notional") {
		name = "notional"
	}
	trade.Notional = trading.Some(t.number(name).Abs())
	if t.has("mae", "mfe") {
		trade.Worst, trade.Best = trading.Some(t.number("mae")), trading.Some(t.number("mfe"))
		return trade
	}
	size, cost := t.number("size"), t.number("cost")
	at := func(price decimal.Decimal) decimal.Decimal { return size.Mul(price).Sub(cost) }
	worst, best := at(t.number("worstprice")), at(t.number("bestprice"))
	switch side := strings.ToLower(t.text("side")); side {
	case "long":
	case "short":
		worst, best = worst.Neg(), best.Neg()
	default:
		t.wrong("side", "%.20q is neither long nor short", side)
	}
	trade.Worst = trading.Some(decimal.Min(worst, decimal.Zero))
	trade.Best = trading.Some(decimal.Max(best, decimal.Zero))
	return trade
}

func (t *table) text(name string) string { return strings.TrimSpace(t.fields[t.columns[name]]) }

func (t *table) wrong(name, format string, values ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("odds: trades: line %d, column %s: %s", t.line, name, fmt.Sprintf(format, values...))
	}
}

// time is that of a field; an empty one is not known.
func (t *table) time(name string) time.Time {
	text := t.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() < 2000 || at.Year() > 2100 {
		t.wrong(name, "%.40q is no time; want one such as 2026-03-01T12:00:00Z", text)
	}
	return at.UTC()
}

// number is that of a field.
func (t *table) number(name string) decimal.Decimal {
	text := t.text(name)
	if len(text) > 40 {
		t.wrong(name, "%.40q… is too long", text)
		return decimal.Zero
	}
	d, err := decimal.NewFromString(text)
	if err != nil || d.Exponent() > 15 || d.Exponent() < -40 || d.NumDigits() > 40 {
		t.wrong(name, "%q is not a number; want a plain one such as -12.50", text)
		return decimal.Zero
	}
	return d
}
