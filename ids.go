package trading

// Identifiers are types of their own, so that one cannot stand where another
// belongs: a run is not cancelled by the id of an order.

// AccountID names one live account. One live key reaches every account that its
// owner has, so each live call names its account.
type AccountID string

// OrderID names a resting limit order.
type OrderID string

// RunID names a run: a Pro order that the service carries out over time.
type RunID string

// IntentID names a write that the program decided on, from its first byte in the
// journal to its settlement. The client makes it; the service never sees it.
type IntentID string
