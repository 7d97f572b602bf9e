package trading

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func ExampleTrade_NetPnL() {
	trade := Trade{GrossPnL: Dec("19"), RoundTripFee: Dec("17")}
	fmt.Println(trade.NetPnL())
	// Output: 2
}

func TestTrap_T73_FeesAreDeductedOnce(t *testing.T) {
	for _, c := range []struct{ gross, fee, net string }{
		{"100", "27", "73"},
		{"0", "27", "-27"},
		{"-100", "27", "-127"},
		{"26.99", "27", "-0.01"},
		{"0.1", "0.2", "-0.1"}, // no binary fraction
	} {
		net := Trade{GrossPnL: Dec(c.gross), RoundTripFee: Dec(c.fee)}.NetPnL()
		assert.True(t, net.Equal(Dec(c.net)), "%s - %s is %v", c.gross, c.fee, net)
	}
}

func fullTrade() Trade {
	return Trade{
		Symbol: "BTC", Side: Long, Cause: CauseStopLoss, Size: Some(Dec("0.5")), EntryPrice: Some(Dec("60000")),
		ExitPrice: Dec("59000"), GrossPnL: Dec("-500"), RoundTripFee: Dec("26.775"),
		OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(), ClosedAt: time.UnixMilli(1_780_000_100_000).UTC(),
		Extra: Extra{"a": json.RawMessage("1")},
	}
}

func TestTradeEqual(t *testing.T) { checkEqual(t, fullTrade()) }
