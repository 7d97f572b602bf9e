package tradingsim

import (
	"fmt"
	"maps"
	"net/http"
)

// otherInterpretations says what a bot meets under the other interpretation of a
// rule that the contract leaves open.
var otherInterpretations = map[int]string{
	1:  "wrong_environment is judged before api_access_denied",
	2:  "a 403 counts as a failed authentication too",
	3:  "a throttled address gets no Retry-After",
	4:  "every answer to a key carries the X-RateLimit headers",
	5:  "requests refused with 403 in front of the route do not count against the key",
	6:  "the user's limit is judged behind the idempotency check, and its 429 is stored",
	7:  "run edits and cancels share the limit of order cancels",
	8:  "a path that does not exist answers 404 only to a good key",
	9:  "the same request is one whose body means the same",
	10: "another request with a key in flight answers 409",
	11: "the 24 hours of a stored answer run from its arrival",
	12: "a 5xx after the work leaves the key's result unknown",
	13: "a body refused for its fields is not stored",
	14: "of a repeated Idempotency-Key header the first counts",
	15: "an opposite order closes the whole position and opens its full size",
	16: "an order that meets a null mark answers 409 NO_PRICE",
	17: "breach and pass are judged although a position is unpriced",
	18: "reads judge the breach before they fire triggers, too",
	19: "a passed sandbox account trades on",
	20: "the daily loss floor moves with the balance that a UTC day begins with",
	21: "the fee in a sandbox close is the leg",
	22: "a trigger that closes a share clears both levels",
	23: "a mark exactly at a level has not crossed it",
	24: "a sandbox level sent with its present value is not judged",
	25: "null triggers in an order count as left out",
	26: "maxSlippagePct is not judged on limit orders",
	27: "an add keeps the leverage of the position",
	28: "pct and closePercent are whole numbers",
	30: "every sandbox key has an account of its own",
	31: "sandbox reads carry no ok",
	32: "disabled markets are neither listed nor priced",
	33: "an empty body counts as {}",
	34: "live writes know bad_symbol and bad_pct, and place an unknown orderType as a market order",
	35: "live no_price answers 400; no_position 400 on close and TP/SL, 404 for reduceOnly",
	36: "a missing limitPrice on /orders/limit is missing_fields",
	37: "a PASSED account takes no cancels",
	38: "the status of a live account moves on orders and on reads too",
	39: "a resting limit fills at the mark, for the taker fee",
	41: "the daily loss limit is judged before the global one",
	42: "timestamps of live records are milliseconds",
	43: "live reads whose envelope is not shown are bare",
	44: "live answers that are not shown are success alone",
	45: "Pro fields answer 422, and the limits on runs 400",
	46: "the first clip of a TWAP comes at once",
	47: "the legacy redirect is a 301; WithRedirect gives it any other status",
	48: "Authorization wins over X-API-Key",
	49: "idempotency keys are kept per route",
	50: "a different request meets 422 although the claim is overdue",
	51: "fields, and the symbol of an order, are judged in front of the idempotency check",
	53: "closed trades show no symbol, side, size, leverage or time; WithoutTradeFields leaves out some",
	54: "a live close takes any closePercent above 0",
	55: "a pass closes the book of a live account, and ends its orders and runs",
	56: "every part of a run is cut at the eighth decimal place, and what that leaves of its total is not traded",
	57: "an opposite order that exceeds the position by less than the eighth decimal place opens nothing",
}

// maxInterpretation is the highest number of one.
const maxInterpretation = 57

// WithInterpretation takes the other interpretation of a rule that the contract
// leaves open, by the number that [Interpretations] lists it under.
func WithInterpretation(number int) Option {
	if _, ok := otherInterpretations[number]; !ok {
		panic(fmt.Sprintf("tradingsim: there is no other interpretation %d", number))
	}
	return option(func(c *config) {
		c.interpretations[number] = true
		switch number {
		case 47:
			c.redirect = http.StatusMovedPermanently
		case 53:
			for _, name := range tradeMembers {
				c.hidden[name] = true
			}
		}
	})
}

// Interpretations lists the numbers that [WithInterpretation] knows and what each changes.
func Interpretations() map[int]string {
	return maps.Clone(otherInterpretations)
}

// other reports whether the other interpretation is in force.
func (s *Sim) other(number int) bool { return s.interpretations[number] }
