package trading

// Kind gathers what means the same to a bot, across codes and environments.
// Kinds are errors as codes are:
//
//	errors.Is(err, trading.ErrNotMarketable) // order_not_marketable or NOT_MARKETABLE
type Kind string

// Error returns the kind as words.
func (k Kind) Error() string { return string(k) }

const (
	// ErrNoPrice is no_price, NO_PRICE, STALE_PRICE: there is no fresh price; it passes by itself.
	ErrNoPrice Kind = "no fresh price"
	// ErrNotMarketable is order_not_marketable, NOT_MARKETABLE: the market has not reached the limit.
	ErrNotMarketable Kind = "limit has not been reached"
	// ErrSlippage is MAX_SLIPPAGE, INSUFFICIENT_LIQUIDITY, GUARD_BAND: the fill would be too far away.
	ErrSlippage Kind = "fill would be too far away"
	// ErrRiskCap is every cap and the minimum order value.
	ErrRiskCap Kind = "risk cap"
	// ErrAccountLocked is account_locked, ACCOUNT_LOCKED.
	ErrAccountLocked Kind = "account is locked"
	// ErrLossLimit is DAILY_DRAWDOWN_BREACH, GLOBAL_DRAWDOWN_BREACH: never retry.
	ErrLossLimit Kind = "loss limit"
	// ErrKeyRefused is each 401, wrong_environment and api_access_denied.
	ErrKeyRefused Kind = "API key refused"
	// ErrUnhealthy is a write held back by the health gate.
	ErrUnhealthy Kind = "not safe to trade"
	// ErrHalted is a write held back by [Client.Halt].
	ErrHalted Kind = "halted"
	// ErrUnsettled is an entry held back because an earlier write in its symbol is Unknown, until it is resolved or acknowledged.
	ErrUnsettled Kind = "an earlier write is unsettled"
	// ErrJournal is an entry held back because the journal cannot take it.
	ErrJournal Kind = "the journal cannot be written"
	// ErrDecided is a decision that was carried out before; nothing was sent this time.
	ErrDecided Kind = "already carried out"
	// ErrExpired is a write that was not sent because it was decided too long ago; see [WithLifetime].
	ErrExpired Kind = "too old to be sent"
	// ErrGuard is a write held back by a guard of the program's own.
	ErrGuard Kind = "refused by a guard"
)
