package trading

// Code is the service's name for a refusal: the exact text of `error` in its
// body. Codes differ by case alone in places, so they are compared exactly.
// Each is an error, for use with [errors.Is]:
//
//	if errors.Is(err, trading.CodeMaxSlippage) { … }
//
// The set is open. A code that this version does not know arrives unchanged,
// matches Code("ITS_NAME"), and is treated by the class of its status.
type Code string

// Error returns the code as the service writes it.
func (c Code) Error() string { return string(c) }

// Codes in front of every route.
const (
	// CodeMissingAPIKey (401): no key was sent.
	CodeMissingAPIKey Code = "missing_api_key"
	// CodeInvalidAPIKey (401): the key is malformed or unknown, whatever its prefix says.
	CodeInvalidAPIKey Code = "invalid_api_key"
	// CodeRevokedAPIKey (401): the key was revoked.
	CodeRevokedAPIKey Code = "revoked_api_key"
	// CodeWrongEnvironment (403): a real key on the other environment's route.
	CodeWrongEnvironment Code = "wrong_environment"
	// CodeAPIAccessDenied (403): the owner has no access any more; every key of that owner answers so.
	CodeAPIAccessDenied Code = "api_access_denied"
	// CodeRateLimited (429): a limit per key, per user or per address; wait for Retry-After.
	CodeRateLimited Code = "rate_limited"
)

// Codes for what the caller sent.
const (
	// CodeInvalidJSON (400): the body is not a JSON object.
	CodeInvalidJSON Code = "invalid_json"
	// CodeMissingFields (400, live): a required field is missing.
	CodeMissingFields Code = "missing_fields"
	// CodeBadSymbol (400, sandbox): the symbol is missing or not tradeable.
	CodeBadSymbol Code = "bad_symbol"
	// CodeBadSide (400): the side is neither long nor short.
	CodeBadSide Code = "bad_side"
	// CodeBadSize (400): the size is not greater than 0.
	CodeBadSize Code = "bad_size"
	// CodeBadLimitPrice (400): a limit order needs a limit price greater than 0.
	CodeBadLimitPrice Code = "bad_limit_price"
	// CodeBadPct (400, sandbox): the percent to close is outside 1 to 100.
	CodeBadPct Code = "bad_pct"
	// CodeBadMaxSlippage (400): outside 0.1 to 30, or more than one decimal place.
	CodeBadMaxSlippage Code = "BAD_MAX_SLIPPAGE"
	// CodeInvalidTPSL (400): a trigger level is on the wrong side of the price.
	CodeInvalidTPSL Code = "invalid_tpsl"
)

// Codes for the state of the account.
const (
	// CodeAccountNotFound (404, live): not the caller's account, or none at all.
	CodeAccountNotFound Code = "account_not_found"
	// CodeAccountLocked (403): refused by the account's status.
	CodeAccountLocked Code = "account_locked"
	// CodeEquityCheckLocked (403, live): refused by the check of live equity. It differs from CodeAccountLocked by case alone.
	CodeEquityCheckLocked Code = "ACCOUNT_LOCKED"
	// CodeDailyLossLimit (403, live): the order would reach or pass the daily loss limit.
	CodeDailyLossLimit Code = "DAILY_DRAWDOWN_BREACH"
	// CodeGlobalLossLimit (403, live): the order would reach or pass the global loss limit.
	CodeGlobalLossLimit Code = "GLOBAL_DRAWDOWN_BREACH"
	// CodeEquityUnavailable (503, live): equity could not be verified; nothing was placed.
	CodeEquityUnavailable Code = "equity_unavailable"
	// CodePriceUnavailable (503, live): equity could not be verified for want of a price; nothing was placed.
	CodePriceUnavailable Code = "PRICE_UNAVAILABLE"
)

// Codes of the risk caps.
const (
	// CodeMinNotional (400): below the minimum order value, for a Pro order of one clip or rung.
	CodeMinNotional Code = "MIN_NOTIONAL"
	// CodePerPositionCap (400): the position would be too large for the account.
	CodePerPositionCap Code = "PER_POSITION_CAP"
	// CodeTotalMarginCap (400): all positions together would take too much margin.
	CodeTotalMarginCap Code = "TOTAL_MARGIN_CAP"
	// CodeAssetNotionalCap (400): the market's own cap.
	CodeAssetNotionalCap Code = "ASSET_NOTIONAL_CAP"
	// CodeNoEquity (400): the account has no equity to trade with.
	CodeNoEquity Code = "NO_EQUITY"
	// CodeCapExceeded (400, sandbox): a cap without a code of its own.
	CodeCapExceeded Code = "cap_exceeded"
)

// Codes for the market and its price.
const (
	// CodeAssetDisabled (403): the market is not tradeable at present.
	CodeAssetDisabled Code = "asset_disabled"
	// CodeMarketPaused (403, live): no new positions while the market's feed is unavailable; closing works.
	CodeMarketPaused Code = "market_paused"
	// CodeNoPrice (503, 404 or 400): the feed has no price for a real market on this read.
	CodeNoPrice Code = "no_price"
	// CodeNoFillPrice (409): no reference price at the moment of the fill. It differs from CodeNoPrice by case alone.
	CodeNoFillPrice Code = "NO_PRICE"
	// CodeStalePrice (409): the reference price was too old at the moment of the fill.
	CodeStalePrice Code = "STALE_PRICE"
	// CodeGuardBand (409): the fill moved too far from the expected price.
	CodeGuardBand Code = "GUARD_BAND"
	// CodeMaxSlippage (409): the estimated average fill is further from mid than the order allows.
	CodeMaxSlippage Code = "MAX_SLIPPAGE"
	// CodeInsufficientLiquidity (409): the book cannot fill the size; there is no estimate.
	CodeInsufficientLiquidity Code = "INSUFFICIENT_LIQUIDITY"
	// CodeOrderNotMarketable (409, sandbox): the limit has not been reached.
	CodeOrderNotMarketable Code = "order_not_marketable"
	// CodeNotMarketable (400, live): the limit has not been reached; PlaceLimit rests it.
	CodeNotMarketable Code = "NOT_MARKETABLE"
)

// Codes for orders, positions and runs.
const (
	// CodeOrderRejected (400, sandbox): the order could not be opened.
	CodeOrderRejected Code = "order_rejected"
	// CodeFillRejected (409, sandbox): a fill was refused without a code of its own.
	CodeFillRejected Code = "fill_rejected"
	// CodeConcurrentRequest (409, sandbox): another write was still in flight; safe to send again.
	CodeConcurrentRequest Code = "concurrent_request"
	// CodeNoPosition (404 or 400): nothing is open in the symbol, or nothing to reduce.
	CodeNoPosition Code = "no_position"
	// CodeOrderNotFound (404, live): no such resting order on the account; it may have filled.
	CodeOrderNotFound Code = "order_not_found"
	// CodeRunNotFound (404, live): no such Pro run on the account; it may have finished.
	CodeRunNotFound Code = "run_not_found"
	// CodeSizeBelowExecuted (400, live): a TWAP edit asks for less than has been filled.
	CodeSizeBelowExecuted Code = "size_below_executed"
	// CodeBadDuration (4xx, live): a Pro order's duration is out of range.
	CodeBadDuration Code = "BAD_DURATION"
	// CodeBadOrderCount (4xx, live): a Pro order's number of orders is out of range.
	CodeBadOrderCount Code = "BAD_ORDER_COUNT"
	// CodeBadPrice (4xx, live): a Pro order's price is out of range.
	CodeBadPrice Code = "BAD_PRICE"
	// CodeBadTrigger (4xx, live): a Pro order's trigger is out of range.
	CodeBadTrigger Code = "BAD_TRIGGER"
	// CodeTooManyRuns (4xx, live): the limit of running Pro runs is reached.
	CodeTooManyRuns Code = "TOO_MANY_RUNS"
	// CodeChaseExists (4xx, live): a chase already runs there.
	CodeChaseExists Code = "CHASE_EXISTS"
)

// Codes of idempotency; live writes only.
const (
	// CodeInvalidIdempotencyKey (400): empty, longer than 255, or with characters that are not visible ASCII.
	CodeInvalidIdempotencyKey Code = "invalid_idempotency_key"
	// CodeIdempotencyKeyReused (422): the key was used for a different request.
	CodeIdempotencyKeyReused Code = "idempotency_key_reused"
	// CodeIdempotencyInFlight (409): the first request with the key is still running.
	CodeIdempotencyInFlight Code = "idempotency_in_flight"
	// CodeIdempotencyResultUnknown (409): the first request failed part-way; read, then use a new key if it is absent.
	CodeIdempotencyResultUnknown Code = "idempotency_result_unknown"
	// CodeIdempotencyUnavailable (503): the key could not be checked; nothing was placed.
	CodeIdempotencyUnavailable Code = "idempotency_unavailable"
)

// Codes named for their status, used where nothing more specific fits.
const (
	// CodeBadRequest is the general 400.
	CodeBadRequest Code = "bad_request"
	// CodeUnauthorized is the general 401.
	CodeUnauthorized Code = "unauthorized"
	// CodeForbidden is the general 403.
	CodeForbidden Code = "forbidden"
	// CodeNotFound is the general 404.
	CodeNotFound Code = "not_found"
	// CodeConflict is the general 409.
	CodeConflict Code = "conflict"
	// CodeUnprocessable is the general 422.
	CodeUnprocessable Code = "unprocessable"
	// CodeInternalError is the general 500; after a write nobody knows whether it ran.
	CodeInternalError Code = "internal_error"
	// CodeUnavailable is the general 502 and 503; after a write nobody knows whether it ran.
	CodeUnavailable Code = "unavailable"
)
