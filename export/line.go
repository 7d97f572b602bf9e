package export

import "github.com/tradingapi/trading-go"

// line is a trade as JSON.
type line struct {
	Date        *string            `json:"date"`
	NetPnL      string             `json:"netPnL"`
	Currency    string             `json:"currency"`
	Label       string             `json:"label"`
	Description string             `json:"description"`
	Account     trading.AccountID  `json:"account"`
	Symbol      string             `json:"symbol"`
	Side        trading.Side       `json:"side"`
	Cause       trading.CloseCause `json:"cause"`
	Size        *string            `json:"size"`
	EntryPrice  *string            `json:"entryPrice"`
	ExitPrice   string             `json:"exitPrice"`
	GrossPnL    string             `json:"grossPnL"`
	Fee         string             `json:"fee"`
	OpenedAt    *string            `json:"openedAt"`
}

func lineOf(account trading.AccountID, t trading.Trade) line {
	return line{
		Date: orNull(stamp(t.ClosedAt)), NetPnL: t.NetPnL().String(), Currency: currency, Label: label, Description: describe(t),
		Account: account, Symbol: t.Symbol, Side: t.Side, Cause: t.Cause,
		Size: orNull(number(t.Size)), EntryPrice: orNull(number(t.EntryPrice)), ExitPrice: t.ExitPrice.String(),
		GrossPnL: t.GrossPnL.String(), Fee: t.RoundTripFee.String(), OpenedAt: orNull(stamp(t.OpenedAt)),
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
