package exchange_test

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go"
)

// caseName is a code as the name of a file.
func caseName(d documented) string {
	if name, ok := sameBut[d.Code]; ok {
		return name
	}
	return d.Code
}

// kindOf is the family that the reference's codes form for a bot, by hand.
func kindOf(code string) trading.Kind {
	families := map[trading.Kind]string{
		trading.ErrNoPrice:       "no_price NO_PRICE STALE_PRICE",
		trading.ErrNotMarketable: "order_not_marketable NOT_MARKETABLE",
		trading.ErrSlippage:      "MAX_SLIPPAGE INSUFFICIENT_LIQUIDITY GUARD_BAND",
		trading.ErrRiskCap:       "MIN_NOTIONAL PER_POSITION_CAP TOTAL_MARGIN_CAP ASSET_NOTIONAL_CAP NO_EQUITY cap_exceeded",
		trading.ErrAccountLocked: "account_locked ACCOUNT_LOCKED",
		trading.ErrLossLimit:     "DAILY_DRAWDOWN_BREACH GLOBAL_DRAWDOWN_BREACH",
		trading.ErrKeyRefused:    "missing_api_key invalid_api_key revoked_api_key unauthorized wrong_environment api_access_denied",
	}
	for kind, codes := range families {
		if slices.Contains(strings.Fields(codes), code) {
			return kind
		}
	}
	return ""
}

// adviceOn is what the reference's codes ask of a bot, by hand.
func adviceOn(code string, status int) trading.Advice {
	if code == "no_price" && status == http.StatusServiceUnavailable {
		return trading.AdviseSameKey
	}
	for advice, codes := range map[trading.Advice]string{
		trading.AdviseNever: "missing_api_key invalid_api_key revoked_api_key unauthorized wrong_environment api_access_denied forbidden " +
			"account_not_found account_locked ACCOUNT_LOCKED DAILY_DRAWDOWN_BREACH GLOBAL_DRAWDOWN_BREACH idempotency_key_reused",
		trading.AdviseSameKey: "PRICE_UNAVAILABLE equity_unavailable idempotency_unavailable",
		trading.AdviseNewKey:  "STALE_PRICE NO_PRICE no_price market_paused concurrent_request",
		trading.AdviseWait:    "rate_limited",
		trading.AdviseRead:    "order_not_found run_not_found",
		trading.AdviseResolve: "internal_error unavailable idempotency_in_flight idempotency_result_unknown",
	} {
		if slices.Contains(strings.Fields(codes), code) {
			return advice
		}
	}
	return trading.AdviseChange
}

// outcomeOf is what a refusal says of a write that nothing was doubtful about
// before, by the reference: a 5xx proves nothing unless its code says that nothing
// was placed, nor do a request that runs still and one that failed part-way. A refusal of
// the key or the account proves nothing by itself: a second answer, which is not recorded,
// has to confirm it.
func outcomeOf(code string, status int) trading.Outcome {
	switch code {
	case "no_price", "PRICE_UNAVAILABLE", "equity_unavailable", "idempotency_unavailable":
		return trading.NotApplied
	case "idempotency_in_flight", "idempotency_result_unknown":
		return trading.Unknown
	}
	front := status == http.StatusUnauthorized || slices.Contains([]string{
		"wrong_environment", "api_access_denied", "forbidden", "account_not_found", "not_found",
	}, code)
	if status >= http.StatusInternalServerError || front {
		return trading.Unknown
	}
	return trading.NotApplied
}
