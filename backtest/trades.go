package backtest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// columns are what the list of trades has of a round trip, by name. Amounts are dollars.
func (t RoundTrip) columns() [][2]string {
	return [][2]string{
		{"symbol", t.Symbol},
		{"side", t.Side},
		{"opened", t.Opened.UTC().Format(time.RFC3339Nano)},
		{"closed", t.Closed.UTC().Format(time.RFC3339Nano)},
		{"size", t.Size.String()},
		{"cost", t.Cost.String()},
		{"gross", t.Gross.String()},
		{"fees", t.Fees.String()},
		{"net", t.Net().String()},
		{"cause", t.Cause},
		{"partialExits", strconv.Itoa(t.PartialExits)},
		{"worstPrice", t.WorstPrice.String()},
		{"bestPrice", t.BestPrice.String()},
		{"mae", t.MAE().String()},
		{"mfe", t.MFE().String()},
	}
}

// WriteTrades writes the round trips of the headline path as CSV.
func (r *Result) WriteTrades(w io.Writer) error {
	table := csv.NewWriter(w)
	var names []string
	for _, c := range (RoundTrip{}).columns() {
		names = append(names, c[0])
	}
	rows := [][]string{names}
	for _, t := range r.Worse().Trips {
		var row []string
		for _, c := range t.columns() {
			row = append(row, c[1])
		}
		rows = append(rows, row)
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("backtest: writing the trades: %w", err)
	}
	return nil
}

// WriteTradesJSON writes what [Result.WriteTrades] does as an array of objects, whose members are
// strings.
func (r *Result) WriteTradesJSON(w io.Writer) error {
	list := make([]map[string]string, 0, len(r.Worse().Trips))
	for _, t := range r.Worse().Trips {
		one := map[string]string{}
		for _, c := range t.columns() {
			one[c[0]] = c[1]
		}
		list = append(list, one)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(list); err != nil {
		return fmt.Errorf("backtest: writing the trades: %w", err)
	}
	return nil
}
