package values

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T73_FeesAreDeductedOnce(t *testing.T) {
	for _, c := range []struct{ gross, fee, net string }{
		{"100", "27", "73"},
		{"0", "27", "-27"},
		{"-100", "27", "-127"},
		{"26.99", "27", "-0.01"},
		{"0.1", "0.2", "-0.1"}, // no binary fraction
	} {
		net := trading.Trade{GrossPnL: trading.Dec(c.gross), RoundTripFee: trading.Dec(c.fee)}.NetPnL()
		assert.True(t, net.Equal(trading.Dec(c.net)), "%s - %s is %v", c.gross, c.fee, net)
	}
}

func fullTrade() trading.Trade {
	return trading.Trade{
		Symbol: "BTC", Side: trading.Long, Cause: trading.CauseStopLoss, Size: trading.Some(trading.Dec("0.5")), EntryPrice: trading.Some(trading.Dec("60000")),
		ExitPrice: trading.Dec("59000"), GrossPnL: trading.Dec("-500"), RoundTripFee: trading.Dec("26.775"),
		OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(), ClosedAt: time.UnixMilli(1_780_000_100_000).UTC(),
		Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestTradeEqual(t *testing.T) { checkEqual(t, fullTrade()) }
