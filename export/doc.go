// Package export writes closed trades for spreadsheets, tax tools and programs: CSV or
// JSON lines, exact decimals, times in UTC.
//
//	trades := export.CSV(file)
//	for _, t := range closed {
//		err := trades.Write("acc_1", t)
//		…
//	}
//
// # Columns
//
// The first five are what tools that read custom files ask for, of a derivative whose
// result alone counts: when, how much, of what, which kind, and a text.
//
//	Date         when it was closed, RFC 3339 in UTC
//	Amount       what it earned after all fees, in dollars; a loss is negative
//	Currency     USD
//	Label        realized gain, of a loss too
//	Description  the trade in words
//	Account      the live account; empty for the paper account
//	Symbol       the market
//	Side         of the position that was closed: long or short
//	Cause        why it was closed
//	Size         what was closed, in base units
//	Entry Price  the average entry of what was closed
//	Exit Price   the price of the close
//	Gross PnL    in dollars, before fees
//	Fee          for opening and closing together, in dollars
//	Opened At    when the position was opened, RFC 3339 in UTC
//
// What the record does not show is an empty cell, and null in a line of JSON: never a zero.
// Gross PnL less Fee is Amount; a tool that asks for a fee beside an amount gets Gross PnL
// as the amount.
//
// # Tax tools
//
// None of them was tried with the file; this is what their pages ask for.
//
//   - Koinly, simple template: the first five columns as they are. Date is its Koinly Date, and
//     "realized gain" is its label for the result of a future, a loss too.
//   - CoinTracker: a positive Amount is Received Quantity, a negative one without its sign is Sent
//     Quantity; dates are MM/DD/YYYY.
//   - Cryptact, Crypto Tax Calculator, CoinLedger and others with a template: copy Date, Amount and
//     Currency; where a tool asks for the fee too, Gross PnL is the amount and Fee the fee.
//
// A trade without a time needs one before a tool takes it.
//
// # Safety
//
// A text of the network that a spreadsheet would take for a formula gets an apostrophe in
// front of it. Numbers are written as they are: a spreadsheet keeps 15 digits of one.
package export
