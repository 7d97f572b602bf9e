package doctor

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

// What to do about a refusal goes by its code, whatever status it has: a limit of the rate that comes by a 403
// asks for no new key. A code that is not known is as its status is.
func TestToDoGoesByTheCode(t *testing.T) {
	const (
		newKey, wait, later, ask, address = "Make a new key", "Wait: a rate limit", "Wait, and look again", "Ask the service", "Check the base URL"
	)
	statuses := []int{400, 401, 403, 404, 409, 422, 429, 500, 502, 503}
	byCode := map[trading.Code]string{
		"missing_api_key": "drops the key", "wrong_environment": "its own key", "api_access_denied": "Ask for access",
		"invalid_api_key": newKey, "revoked_api_key": newKey, "unauthorized": newKey, "rate_limited": wait,
		"forbidden": ask, "account_locked": ask, "ACCOUNT_LOCKED": ask, "DAILY_DRAWDOWN_BREACH": ask, "GLOBAL_DRAWDOWN_BREACH": ask,
		"account_not_found": ask, "idempotency_key_reused": ask,
		"equity_unavailable": later, "PRICE_UNAVAILABLE": later, "market_paused": later, "no_price": later, "NO_PRICE": later, "STALE_PRICE": later,
		"concurrent_request": later, "order_not_found": later, "run_not_found": later, "idempotency_in_flight": later,
		"idempotency_result_unknown": later, "idempotency_unavailable": later, "internal_error": later, "unavailable": later,
	}
	keys := []trading.Code{"missing_api_key", "invalid_api_key", "revoked_api_key", "wrong_environment", "api_access_denied", "unauthorized"}
	seen := map[trading.Code]bool{}
	for rule := range trading.Rules() {
		want, given := byCode[rule.Code]
		if !given {
			want = address // the request is at fault: of a read that is where it goes
		}
		for _, status := range append(statuses, rule.Status) {
			do, keyRefused := toDo(fmt.Errorf("read: %w", &trading.Error{Code: rule.Code, Status: status}))
			assert.Contains(t, do, want, "%s with %d", rule.Code, status)
			assert.Equal(t, slices.Contains(keys, rule.Code), keyRefused, "%s with %d", rule.Code, status)
		}
		seen[rule.Code] = true
	}
	for code := range byCode {
		assert.True(t, seen[code], "no such code: %s", code)
	}
	for status, want := range map[int]string{400: address, 401: newKey, 403: ask, 404: address, 409: address, 422: address, 429: wait, 500: later, 502: later, 503: later} {
		do, keyRefused := toDo(&trading.Error{Code: "of_tomorrow", Status: status})
		assert.Contains(t, do, want, status)
		assert.Equal(t, status == 401, keyRefused, status)
	}
	do, keyRefused := toDo(errors.New("dial: refused"))
	assert.Equal(t, "Check the base URL and the network.", do)
	assert.False(t, keyRefused)
}
