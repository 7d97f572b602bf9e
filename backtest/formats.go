package backtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format is the exchange or the program that a file of prices was exported from. It says what
// columns without a heading are, and what the times mean.
type Format string

// The exports that are known. A file that has the heading of one and of no other is recognised
// by it; the others are read as what [CSV.Format] says.
const (
	AnyFormat Format = "" // recognised by its heading, or columns as [ReadCSV] describes them

	Binance            Format = "binance"            // data.binance.vision: klines, trades and aggTrades; spot has no heading; microseconds since 2025
	Bybit              Format = "bybit"              // public.bybit.com, and the klines of its API; klines for MetaTrader have no heading, and their clock is UTC+3
	OKX                Format = "okx"                // historical trades and candlesticks; a heading in two languages until 2023
	Kraken             Format = "kraken"             // historical OHLCVT, and time and sales; no heading; the last trade of a second is the price from its end on
	CryptoDataDownload Format = "cryptodatadownload" // newest first, in Unix time, which is read, and in words; an address in the first line
	Yahoo              Format = "yahoo"              // daily prices of Yahoo Finance, in UTC days; "null" is a market without a price; recognised with "Adj Close"
	MetaTrader         Format = "metatrader"         // bars of MetaTrader 4 and 5, in the time of a broker's server: the zone is required
	TradingView        Format = "tradingview"        // an exported chart, whose time is the opening
	Freqtrade          Format = "freqtrade"          // candles of freqtrade as JSON
	HistData           Format = "histdata"           // minutes and ticks of histdata.com, whose clock is UTC-5 all year; no heading; of ticks the bid is read
	Tardis             Format = "tardis"             // trades of tardis.dev, in microseconds
)

// layout is one table that a format has.
type layout struct {
	format  Format
	what    string         // the table, as a note names it
	names   string         // of its columns, in the order of the file; more may follow them
	bare    []int          // the numbers of columns of a file without a heading
	yesno   string         // a column that is true or false
	ours    string         // where names differ from those of ReadCSV: "time=date;clock=time"
	means   CandleTime     // of the time
	zone    *time.Location // of times that name none
	trades  bool           // several may have the same time, in the order in which they were made
	ends    time.Duration  // a time is known to this, and what it names is known at its end
	alone   bool           // nobody else writes this heading
	newest  bool           // it may begin with the newest
	absent  string         // a price that is missing
	inWords bool           // names have a translation behind a slash
	says    string         // a note says it, too
}

// moscow is the clock of Bybit's candles for MetaTrader.
var moscow = time.FixedZone("UTC+3", 3*60*60)

// eastern is the clock of histdata.com, which does not change.
var eastern = time.FixedZone("UTC-5", -5*60*60)

var layouts = []layout{
	{
		format: Binance, what: "klines", bare: []int{12}, means: OpenTime,
		names: "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore", ours: "time=open_time",
	},
	{format: Binance, what: "trades", names: "id,price,qty,quote_qty,time,is_buyer_maker", bare: []int{6, 7}, yesno: "is_buyer_maker", trades: true, alone: true},
	{
		format: Binance, what: "aggTrades", bare: []int{7, 8}, yesno: "is_buyer_maker", ours: "time=transact_time", trades: true, alone: true,
		names: "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker",
	},
	{format: Bybit, what: "trades", names: "timestamp,symbol,side,size,price,tickDirection,trdMatchID", ours: "time=timestamp", trades: true, alone: true, newest: true},
	{format: Bybit, what: "spot trades", names: "id,timestamp,price,volume,side", ours: "time=timestamp", trades: true, alone: true},
	{
		format: Bybit, what: "klines", names: "startTime,openPrice,highPrice,lowPrice,closePrice", means: OpenTime, alone: true, newest: true,
		ours: "time=startTime;open=openPrice;high=highPrice;low=lowPrice;close=closePrice",
	},
	{format: Bybit, what: "klines for MetaTrader", names: "time,open,high,low,close,volume", bare: []int{6}, means: OpenTime, zone: moscow},
	{format: OKX, what: "trades", names: "instrument_name,trade_id,side,price,size,created_time", ours: "symbol=instrument_name;time=created_time", trades: true, alone: true},
	{format: OKX, what: "trades", names: "trade_id,side,size,price,created_time", bare: []int{5}, ours: "time=created_time", trades: true, alone: true, inWords: true},
	{
		format: OKX, what: "candlesticks", names: "instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time", means: OpenTime, alone: true,
		ours: "symbol=instrument_name;time=open_time;volume=vol",
	},
	{format: Kraken, what: "OHLCVT", names: "time,open,high,low,close,volume,trades", bare: []int{7}, means: OpenTime},
	{format: Kraken, what: "time and sales", names: "time,price,volume", bare: []int{3}, trades: true, ends: time.Second},
	{format: CryptoDataDownload, what: "candles", names: "unix,date,symbol,open,high,low,close", ours: "time=unix", means: OpenTime, alone: true, newest: true},
	{format: CryptoDataDownload, what: "candles", names: "unix timestamp,date,symbol,open,high,low,close", ours: "time=unix timestamp", means: OpenTime, alone: true, newest: true},
	{format: Yahoo, what: "prices", names: "date,open,high,low,close,adj close,volume", ours: "time=date", means: OpenTime, zone: time.UTC, alone: true, absent: "null"},
	{format: Yahoo, what: "prices", names: "date,open,high,low,close,volume", ours: "time=date", means: OpenTime, zone: time.UTC, absent: "null"},
	{
		format: MetaTrader, what: "bars", names: "<date>,<time>,<open>,<high>,<low>,<close>", means: OpenTime, alone: true,
		ours: "time=<date>;clock=<time>;open=<open>;high=<high>;low=<low>;close=<close>",
	},
	{format: MetaTrader, what: "daily bars", names: "<date>,<open>,<high>,<low>,<close>", means: OpenTime, alone: true, ours: "time=<date>;open=<open>;high=<high>;low=<low>;close=<close>"},
	{format: MetaTrader, what: "bars", names: "date,time,open,high,low,close,volume", bare: []int{7}, ours: "time=date;clock=time", means: OpenTime},
	{format: TradingView, what: "chart", names: "time,open,high,low,close", means: OpenTime, zone: time.UTC, absent: "NaN"},
	{format: Freqtrade, what: "candles", names: "time,open,high,low,close,volume", bare: []int{6}, means: OpenTime},
	{format: HistData, what: "minutes", names: "time,open,high,low,close,volume", bare: []int{6}, means: OpenTime, zone: eastern},
	{format: HistData, what: "ticks", names: "time,price,ask,volume", bare: []int{4}, trades: true, zone: eastern, says: ", its bids"},
	{format: Tardis, what: "trades", names: "exchange,symbol,timestamp,local_timestamp,id,side,price,amount", ours: "time=timestamp", trades: true, alone: true},
}

// columns are the names of a line with so many fields.
func (l layout) columns(fields int) []string {
	names := strings.Split(l.names, ",")
	for len(names) < fields {
		names = append(names, fmt.Sprintf("column %d", len(names)+1))
	}
	return names[:fields]
}

// own is the file's name of one of our columns.
func (l layout) own(ours string) string {
	for pair := range strings.SplitSeq(l.ours, ";") {
		if is, name, ok := strings.Cut(pair, "="); ok && is == ours {
			return name
		}
	}
	return ours
}

// heads reports whether a heading is that of the layout.
func (l layout) heads(names []string) bool {
	want := strings.Split(l.names, ",")
	return len(names) >= len(want) && slices.EqualFunc(want, names[:len(want)], func(want, have string) bool {
		if l.inWords {
			have, _, _ = strings.Cut(have, "/")
		}
		return strings.EqualFold(want, have)
	})
}

// begins reports whether a line without a heading can be one of the layout.
func (l layout) begins(fields []string, zone *time.Location) bool {
	if !slices.Contains(l.bare, len(fields)) {
		return false
	}
	for i, name := range l.columns(len(fields)) {
		text := strings.TrimSpace(fields[i])
		switch name {
		case l.own("time"):
			if clock := slices.Index(l.columns(len(fields)), l.own("clock")); clock >= 0 {
				text += " " + strings.TrimSpace(fields[clock])
			}
			if zone == nil {
				zone = time.UTC // it is asked for later
			}
			if _, _, wrong, _ := readTime(text, zone); wrong != "" {
				return false
			}
		case l.own("price"), l.own("open"), l.own("high"), l.own("low"), l.own("close"):
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				return false
			}
		case l.yesno:
			if !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
				return false
			}
		}
	}
	return true
}

// recognise finds the layout of a file with this first line.
func (r *reader) recognise(first []string, heading bool) error {
	var fit []layout
	for _, l := range layouts {
		switch {
		case r.Format == AnyFormat && !(l.alone && heading), r.Format != AnyFormat && l.format != r.Format:
		case heading && l.heads(first), !heading && l.begins(first, r.Zone):
			fit = append(fit, l)
		}
	}
	// The longer heading says more.
	slices.SortStableFunc(fit, func(a, b layout) int { return len(b.names) - len(a.names) })
	switch {
	case r.Format == AnyFormat && len(fit) == 0:
		return nil
	case len(fit) == 0:
		return r.wrong(-1, fmt.Sprintf("the first line is that of no %s file that is known: %.80q", r.Format, strings.Join(first, ",")), "want "+r.Format.tables())
	case len(fit) > 1 && !heading:
		return r.wrong(-1, fmt.Sprintf("the first line can be of %s and of %s", fit[0].what, fit[1].what), "want "+r.setting("Heading"))
	}
	r.layout = &fit[0]
	r.data.notes = append(r.data.notes, fmt.Sprintf("%s: read as %s of %s%s", r.Name, fit[0].what, fit[0].format, fit[0].says))
	return nil
}

// tables are what is known of a format, in words.
func (f Format) tables() string {
	var list []string
	for _, l := range layouts {
		if l.format == f && len(l.bare) > 0 {
			list = append(list, fmt.Sprintf("%s without a heading, %s", l.what, l.names))
		} else if l.format == f {
			list = append(list, fmt.Sprintf("%s with the heading %s", l.what, l.names))
		}
	}
	if list == nil {
		return "one of the formats that are known"
	}
	return strings.Join(list, "; or ")
}

// quotes are how the names of markets end whose prices are dollars.
var quotes = []string{"USD", "FDUSD", "BUSD", "TUSD", "PERP", "DAI"}

// isMarket reports whether an exchange's name of a market is a symbol's, in dollars.
func isMarket(name, symbol string) bool {
	name, symbol = strings.ToUpper(name), strings.ToUpper(symbol)
	if symbol == "BTC" && strings.HasPrefix(name, "XBT") {
		name = "BTC" + name[len("XBT"):]
	}
	rest, ok := strings.CutPrefix(name, symbol)
	rest = strings.TrimLeft(rest, "-/_:")
	return ok && (rest == "" || slices.ContainsFunc(quotes, func(d string) bool { return strings.HasPrefix(rest, d) }))
}
