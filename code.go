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
