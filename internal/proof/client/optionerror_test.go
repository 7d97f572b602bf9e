package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/profile"
)

// What cannot be meant is refused by one type of error that names the option, by New
// and by a call alike, and nothing is sent.
func TestOptionsThatCannotBeMeant(t *testing.T) {
	retry := trading.Retry{MinWait: 2 * time.Second, MaxWait: time.Second}
	for name, row := range map[string]struct {
		opts   []any
		option string
		says   string
	}{
		"a nil option":            {[]any{nil}, "opts", "nil"},
		"waits upside down":       {[]any{trading.WithRetry(retry)}, "WithRetry", "MinWait is 2s: it must not be above MaxWait, which is 1s"},
		"a wait above the usual":  {[]any{trading.WithRetry(trading.Retry{MinWait: time.Minute})}, "WithRetry", "MaxWait, which is 5s"},
		"a negative bound":        {[]any{trading.WithRetry(trading.Retry{Attempts: -1})}, "WithRetry", "negative"},
		"no time for an attempt":  {[]any{trading.WithAttemptTimeout(0)}, "WithAttemptTimeout", "it is 0s"},
		"too long a lifetime":     {[]any{trading.WithSendTTL(time.Hour)}, "WithSendTTL", "1h0m0s"},
		"an empty account":        {[]any{trading.WithExclusiveAccounts("acc_1", "")}, "WithExclusiveAccounts", "account id 2 of 2"},
		"a nil journal":           {[]any{trading.WithJournal(nil)}, "WithJournal", "the journal is nil"},
		"a nil profile":           {[]any{trading.WithProfile(nil)}, "WithProfile", "the profile is nil"},
		"a profile of nothing":    {[]any{trading.WithProfile(&profile.Profile{})}, "WithProfile", "version is 0"},
		"a lag below the usual":   {[]any{trading.WithReadLag(time.Second)}, "WithReadLag", "it is 1s: it must be between 5s and 10m0s"},
		"a nil guard":             {[]any{trading.WithGuard(nil)}, "WithGuard", "the guard is nil"},
		"a nil key function":      {[]any{trading.WithLiveKeyFunc(nil)}, "WithLiveKeyFunc", "the function is nil"},
		"too little slippage":     {[]any{trading.WithMaxSlippagePct(rig.Dec("0.01"))}, "WithMaxSlippagePct", "between 0.1 and 30 percent"},
		"a key of the other kind": {[]any{trading.WithLiveKey("pk_test_x")}, "WithLiveKey", "must begin with pk_live_"},
		"a negative limit":        {[]any{trading.WithRateLimits(trading.RateLimits{PerKey: -1})}, "WithRateLimits", "negative"},
		"a key and a decision": {[]any{trading.WithIdempotencyKey("k"), trading.WithClientOrderID("d")}, "WithClientOrderID",
			"a key or an id"},
		"a decision and a key": {[]any{trading.WithClientOrderID("d"), trading.WithIdempotencyKey("k")}, "WithIdempotencyKey",
			"a key or an id"},
		"an invalid key":    {[]any{trading.WithIdempotencyKey("a b")}, "WithIdempotencyKey", "visible ASCII"},
		"a key in UTF-8":    {[]any{trading.WithIdempotencyKey("é")}, "WithIdempotencyKey", "has 'é' at position 0"},
		"an empty id":       {[]any{trading.WithClientOrderID("")}, "WithClientOrderID", "the id is empty"},
		"nowhere to answer": {[]any{trading.ResponseInto(nil)}, "ResponseInto", "nil"},
		"no such priority":  {[]any{trading.WithPriority(9)}, "WithPriority", "Priority(9)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, nil)
			var ofClient []trading.Option
			var ofCall []trading.CallOption
			for _, opt := range row.opts {
				if o, ok := opt.(trading.Option); ok || opt == nil {
					ofClient = append(ofClient, o)
				}
				if o, ok := opt.(trading.CallOption); ok || opt == nil {
					ofCall = append(ofCall, o)
				}
			}
			var errs []error
			if ofClient != nil {
				_, err := trading.New(r.Sim.URL(), ofClient...)
				errs = append(errs, err)
			}
			if ofCall != nil {
				_, err := r.With(ofCall...)
				errs = append(errs, err)
				_, err = r.Account().ClosePosition(t.Context(), "BTC", trading.All, ofCall...)
				errs = append(errs, err)
				assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			}
			require.NotEmpty(t, errs)
			for _, err := range errs {
				var bad *trading.OptionError
				require.ErrorAs(t, err, &bad)
				assert.Equal(t, row.option, bad.Option)
				require.ErrorContains(t, err, row.says)
			}
			assert.Empty(t, r.Sim.Requests())
		})
	}
	_, err := trading.New("ftp://127.0.0.1/v1")
	var bad *trading.OptionError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, "baseURL", bad.Option)
	_, err = trading.New("https://api.example.test/v1", trading.WithLiveKey("pk_test_x"))
	assert.ErrorIs(t, err, trading.CodeWrongEnvironment, "the code stays reachable")
}

// An order names all that it lacks at once.
func TestAnOrderNamesAllThatItLacks(t *testing.T) {
	for _, row := range []struct {
		name  string
		order trading.Order
		env   trading.Environment
		code  trading.Code
		lacks string
	}{
		{"nothing at all, live", trading.Order{}, trading.EnvLive, trading.CodeMissingFields, "symbol, side, size, leverage"},
		{"nothing at all, sandbox", trading.Order{}, trading.EnvSandbox, trading.CodeBadSymbol, "symbol, side, size"},
		{"a limit", trading.Order{Type: trading.LimitOrder, Symbol: "BTC"}, trading.EnvLive, trading.CodeMissingFields, "side, size, leverage, limitPrice"},
		{"two of them", rig.Buy("0", func(o *trading.Order) { o.Side = "" }), trading.EnvLive, trading.CodeBadSide, "side, size"},
		{"one", rig.Buy("0"), trading.EnvLive, trading.CodeBadSize, "size"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.order.Check(row.env)
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, "required and missing: "+row.lacks, rig.RefusalOf(t, err).Message)
		})
	}
}
