package trading

// rules is the table behind [Rules]: one row for each code, status and
// environment of the contract that differ in what to do. It is never written to.
var rules = [...]Rule{
	// In front of every route.
	{CodeMissingAPIKey, 401, "", ErrKeyRefused, AdviseNever, NotApplied, "no API key was sent"},
	{CodeInvalidAPIKey, 401, "", ErrKeyRefused, AdviseNever, NotApplied, "the API key is malformed or unknown"},
	{CodeRevokedAPIKey, 401, "", ErrKeyRefused, AdviseNever, NotApplied, "the API key was revoked"},
	{CodeWrongEnvironment, 403, "", ErrKeyRefused, AdviseNever, NotApplied, "the API key is for the other environment"},
	{CodeAPIAccessDenied, 403, "", ErrKeyRefused, AdviseNever, NotApplied, "the owner has no API access; every key of the owner is refused"},
	{CodeRateLimited, 429, "", "", AdviseWait, NotApplied, "a rate limit; nothing was placed"},

	// What the caller sent.
	{CodeInvalidJSON, 400, "", "", AdviseChange, NotApplied, "the body is not a JSON object"},
	{CodeMissingFields, 400, EnvLive, "", AdviseChange, NotApplied, "a required field is missing"},
	{CodeBadSymbol, 400, EnvSandbox, "", AdviseChange, NotApplied, "the symbol is missing or not tradeable"},
	{CodeBadSide, 400, "", "", AdviseChange, NotApplied, "the side is neither long nor short"},
	{CodeBadSize, 400, "", "", AdviseChange, NotApplied, "the size is not greater than 0"},
	{CodeBadLimitPrice, 400, "", "", AdviseChange, NotApplied, "a limit order needs a limit price greater than 0"},
	{CodeBadPct, 400, EnvSandbox, "", AdviseChange, NotApplied, "the percent to close is outside 1 to 100"},
	{CodeBadMaxSlippage, 400, "", "", AdviseChange, NotApplied, "the maximum slippage is outside 0.1 to 30 or has more than one decimal place"},
	{CodeInvalidTPSL, 400, "", "", AdviseChange, NotApplied, "a trigger level is on the wrong side of the price"},

	// The state of the account.
	{CodeAccountNotFound, 404, EnvLive, "", AdviseNever, NotApplied, "no such account of this owner"},
	{CodeAccountLocked, 403, "", ErrAccountLocked, AdviseNever, NotApplied, "the account's status does not allow it"},
	{CodeEquityCheckLocked, 403, EnvLive, ErrAccountLocked, AdviseNever, NotApplied, "the check of live equity found the account locked"},
	{CodeDailyLossLimit, 403, EnvLive, ErrLossLimit, AdviseNever, NotApplied, "the order would reach the daily loss limit"},
	{CodeGlobalLossLimit, 403, EnvLive, ErrLossLimit, AdviseNever, NotApplied, "the order would reach the global loss limit"},
	{CodeEquityUnavailable, 503, EnvLive, "", AdviseSameKey, NotApplied, "equity could not be verified; nothing was placed"},
	{CodePriceUnavailable, 503, EnvLive, "", AdviseSameKey, NotApplied, "equity could not be verified for want of a price; nothing was placed"},

	// Risk caps.
	{CodeMinNotional, 400, "", ErrRiskCap, AdviseChange, NotApplied, "below the minimum order value"},
	{CodePerPositionCap, 400, "", ErrRiskCap, AdviseChange, NotApplied, "the position would exceed its cap"},
	{CodeTotalMarginCap, 400, "", ErrRiskCap, AdviseChange, NotApplied, "all positions together would exceed the margin cap"},
	{CodeAssetNotionalCap, 400, "", ErrRiskCap, AdviseChange, NotApplied, "the market's own cap would be exceeded"},
	{CodeNoEquity, 400, "", ErrRiskCap, AdviseChange, NotApplied, "the account has no equity to trade with"},
	{CodeCapExceeded, 400, EnvSandbox, ErrRiskCap, AdviseChange, NotApplied, "a cap without a code of its own"},

	// The market and its price.
	{CodeAssetDisabled, 403, "", "", AdviseChange, NotApplied, "the market is not tradeable"},
	{CodeMarketPaused, 403, EnvLive, "", AdviseNewKey, NotApplied, "no new positions while the market's feed is unavailable"},
	{CodeNoPrice, 503, "", ErrNoPrice, AdviseSameKey, NotApplied, "no fresh price; nothing was placed and nothing stored"},
	{CodeNoPrice, 404, EnvSandbox, ErrNoPrice, AdviseNewKey, NotApplied, "a real market without a price on this read"},
	{CodeNoPrice, 400, EnvLive, ErrNoPrice, AdviseNewKey, NotApplied, "no fresh price for the order or close"},
	{CodeNoFillPrice, 409, "", ErrNoPrice, AdviseNewKey, NotApplied, "no reference price at the moment of the fill"},
	{CodeStalePrice, 409, "", ErrNoPrice, AdviseNewKey, NotApplied, "the reference price was too old at the moment of the fill"},
	{CodeGuardBand, 409, "", ErrSlippage, AdviseChange, NotApplied, "the price moved too far from the expected one; expect the new one"},
	{CodeMaxSlippage, 409, "", ErrSlippage, AdviseChange, NotApplied, "the estimated fill is further from mid than the order allows"},
	{CodeInsufficientLiquidity, 409, "", ErrSlippage, AdviseChange, NotApplied, "the book cannot fill the size"},
	{CodeOrderNotMarketable, 409, EnvSandbox, ErrNotMarketable, AdviseChange, NotApplied, "the market has not reached the limit"},
	{CodeNotMarketable, 400, EnvLive, ErrNotMarketable, AdviseChange, NotApplied, "the market has not reached the limit; it can be left to rest"},

	// Orders, positions and runs.
	{CodeOrderRejected, 400, EnvSandbox, "", AdviseChange, NotApplied, "the order could not be opened"},
	{CodeFillRejected, 409, EnvSandbox, "", AdviseChange, NotApplied, "the fill was refused"},
	{CodeConcurrentRequest, 409, EnvSandbox, "", AdviseSameKey, NotApplied, "another write to the sandbox was still in flight"},
	{CodeNoPosition, 404, "", "", AdviseChange, NotApplied, "nothing is open in the symbol"},
	{CodeNoPosition, 400, EnvLive, "", AdviseChange, NotApplied, "nothing to reduce"},
	{CodeOrderNotFound, 404, EnvLive, "", AdviseRead, NotApplied, "no such resting order; it may have filled"},
	{CodeRunNotFound, 404, EnvLive, "", AdviseRead, NotApplied, "no such run; it may have finished"},
	{CodeSizeBelowExecuted, 400, EnvLive, "", AdviseChange, NotApplied, "the edit asks for less than has been filled"},
	{CodeBadDuration, 0, EnvLive, "", AdviseChange, NotApplied, "the duration is out of range"},
	{CodeBadOrderCount, 0, EnvLive, "", AdviseChange, NotApplied, "the number of orders is out of range"},
	{CodeBadPrice, 0, EnvLive, "", AdviseChange, NotApplied, "a price is out of range"},
	{CodeBadTrigger, 0, EnvLive, "", AdviseChange, NotApplied, "the trigger is out of range"},
	{CodeTooManyRuns, 0, EnvLive, "", AdviseChange, NotApplied, "the limit of running Pro runs is reached"},
	{CodeChaseExists, 0, EnvLive, "", AdviseChange, NotApplied, "a chase already runs there"},

	// Idempotency.
	{CodeInvalidIdempotencyKey, 400, EnvLive, "", AdviseChange, NotApplied, "the idempotency key is empty, too long or has invisible characters"},
	{CodeIdempotencyKeyReused, 422, EnvLive, "", AdviseChange, NotApplied, "the key was used for a different request"},
	{CodeIdempotencyInFlight, 409, EnvLive, "", AdviseSameKey, Unknown, "the first request with the key still runs"},
	{CodeIdempotencyResultUnknown, 409, EnvLive, "", AdviseRead, Unknown, "the first request failed part-way"},
	{CodeIdempotencyUnavailable, 503, EnvLive, "", AdviseSameKey, NotApplied, "the key could not be checked; nothing was placed"},

	// Named for their status.
	{CodeBadRequest, 400, "", "", AdviseChange, NotApplied, "the request is at fault"},
	{CodeUnauthorized, 401, "", ErrKeyRefused, AdviseNever, NotApplied, "the API key was refused"},
	{CodeForbidden, 403, "", "", AdviseNever, NotApplied, "not allowed"},
	{CodeNotFound, 404, "", "", AdviseChange, NotApplied, "there is nothing of that name"},
	{CodeConflict, 409, "", "", AdviseChange, NotApplied, "the request conflicts with the state of the account"},
	{CodeUnprocessable, 422, "", "", AdviseChange, NotApplied, "the request cannot be processed"},
	{CodeInternalError, 500, "", "", AdviseRead, Unknown, "the service failed; a write may have been applied"},
	{CodeUnavailable, 502, "", "", AdviseRead, Unknown, "the service was not reached or failed; a write may have been applied"},
	{CodeUnavailable, 503, "", "", AdviseRead, Unknown, "the service is unavailable; a write may have been applied"},
}
