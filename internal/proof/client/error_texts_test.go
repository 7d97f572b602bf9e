package client

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/ratelimit"
)

// errorRow is an error that a mistake of the caller causes, and what its text has to name.
type errorRow struct {
	field, value string
	err          error
}

// mistakes are the caller's, one for each text.
func mistakes(t *testing.T) []errorRow {
	order := func(change func(*trading.Order)) trading.Order {
		o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("2")}
		change(&o)
		return o
	}
	live := func(change func(*trading.Order)) error { o := order(change); return o.Check(trading.EnvLive) }
	paper := func(change func(*trading.Order)) error { o := order(change); return o.Check(trading.EnvSandbox) }
	good := order(func(*trading.Order) {})
	client := rig.ScriptedClient(t, rig.NewScript(t)) // any request fails the test
	account := client.Live.Account("acc_1")
	call := func(opts ...trading.CallOption) error {
		_, sent := account.ClosePosition(t.Context(), "BTC", trading.All, opts...)
		wrong := (*trading.OptionError)(nil)
		require.ErrorAs(t, sent, &wrong)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(sent))
		return wrong
	}
	made := func(opts ...trading.Option) error {
		_, err := trading.New(rig.BaseURL, opts...)
		require.ErrorAs(t, err, new(*trading.OptionError))
		for _, opt := range opts {
			if ofCall, ok := opt.(trading.CallOption); ok {
				assert.EqualError(t, call(ofCall), err.Error())
			}
		}
		return err
	}
	address := func(url string) error {
		_, err := trading.New(url, trading.WithSandboxKey("pk_test_secret"))
		require.ErrorAs(t, err, new(*trading.OptionError), url)
		return err
	}
	tpsl := func(change trading.TPSL) error { _, err := account.SetTPSL(t.Context(), "BTC", change); return err }
	_, named := client.Sandbox.PlaceOrder(t.Context(), good, trading.WithClientOrderID("a"))
	_, keyed := client.Sandbox.PlaceOrder(t.Context(), good, trading.WithIdempotencyKey("a"))
	paperTPSL := func(symbol string, change trading.TPSL) error {
		return rig.Only(client.Sandbox.SetTPSL(t.Context(), symbol, change))
	}
	marshal := func(v any) error { _, err := json.Marshal(v); return errors.Unwrap(err) }
	_, of := client.Me(t.Context(), "demo")
	_, edit := account.EditRun(t.Context(), "run_1", trading.Dec("-1"))
	_, part := account.ClosePosition(t.Context(), "BTC", trading.Percent(trading.Dec("101")))
	_, unpriced := client.Sandbox.Price(t.Context(), "")
	_, share := client.Sandbox.ClosePosition(t.Context(), "BTC", trading.Percent(trading.Dec("0.5")))
	_, symbol := account.ClosePosition(t.Context(), "", trading.All)
	_, id := account.CancelOrder(t.Context(), "")
	_, path := account.CancelOrder(t.Context(), "..")
	_, control := account.CancelOrder(t.Context(), "ord\n1")
	_, notAWrite := client.Resolve(t.Context(), errors.New("disk full"))
	_, untracked := client.Resolve(t.Context(), &trading.WriteError{Outcome: trading.Unknown, Operation: trading.OpOrder, Err: errors.New("cut")})
	_, elsewhere := client.ResolveID(t.Context(), "w_1")
	_, begun := trading.DescribeHistory(journal.History{Intent: "w_1"})
	keyless, err := trading.New(rig.BaseURL, trading.WithTransport(rig.NewScript(t)))
	require.NoError(t, err)
	_, missingKey := keyless.Sandbox.State(t.Context())
	_, missingLiveKey := keyless.Live.Accounts(t.Context())
	require.NoError(t, keyless.Close())
	sealed, err := trading.New(rig.BaseURL, trading.WithTransport(rig.NewScript(t)), trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) { return "", errors.New("vault is sealed") }))
	require.NoError(t, err)
	_, function := sealed.Live.Accounts(t.Context())
	require.NoError(t, sealed.Close())
	_, closed := sealed.Live.Accounts(t.Context())
	_, plain := trading.New("http://10.0.0.7/v1", trading.WithPlaintextHTTP(), trading.WithLiveKey("pk_live_0123456789"))
	_, noOp := client.Do(t.Context(), "PUT /orders", trading.Raw{})
	_, odd := client.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(`{"orderType":"Market"}`)})
	_, exec := client.Do(t.Context(), trading.OpConditional, trading.Raw{Body: []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2,"triggerPrice":1,"execKind":"stop"}`)})
	_, tooYoung := client.Do(t.Context(), trading.OpSandboxReset, trading.Raw{Age: -1})
	var none context.Context
	_, noContext := client.Sandbox.State(none)
	return []errorRow{
		{"symbol, side, size, leverage", "", trading.Order{}.Check(trading.EnvLive)},
		{"required and missing: symbol, side, size", "", trading.Order{}.Check(trading.EnvSandbox)},
		{"required and missing: side, size, leverage, limitPrice", "", trading.Order{Type: trading.LimitOrder, Symbol: "BTC"}.Check(trading.EnvLive)},
		{"size", "e60000000", live(func(o *trading.Order) { o.Size = decimal.New(1, 60000000) })},
		{"size", "e-60000000", live(func(o *trading.Order) { o.Size = decimal.New(1, -60000000) })},
		{"side", `"LONG"`, live(func(o *trading.Order) { o.Side = "LONG" })},
		{"size", "-1", live(func(o *trading.Order) { o.Size = trading.Dec("-1") })},
		{"leverage", "-2", live(func(o *trading.Order) { o.Leverage = trading.Dec("-2") })},
		{"orderType", "OrderType(7)", live(func(o *trading.Order) { o.Type = 7 })},
		{"limitPrice", "-5", live(func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("-5")) })},
		{"limitPrice", "60000", live(func(o *trading.Order) { o.LimitPrice = trading.At(trading.Dec("60000")) })},
		{"takeProfitPrice", "Clear", live(func(o *trading.Order) { o.TakeProfit = trading.Clear })},
		{"stopLossPrice", "0", live(func(o *trading.Order) { o.StopLoss = trading.At(decimal.Zero) })},
		{"stopLossPrice", "60000", live(func(o *trading.Order) {
			o.StopLoss, o.TakeProfit = trading.At(trading.Dec("60000")), trading.At(trading.Dec("50000"))
		})},
		{"maxSlippagePct", "31", live(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("31")) })},
		{"maxSlippagePct", "0.25", live(func(o *trading.Order) { o.MaxSlippagePct = trading.Some(trading.Dec("0.25")) })},
		{"reduceOnly", "true", paper(func(o *trading.Order) { o.ReduceOnly = true })},
		{"closePct", "50", tpsl(trading.TPSL{StopLoss: trading.Clear, TakeProfit: trading.Clear, ClosePct: trading.Some(trading.Dec("50"))})},
		{"takeProfitPrice or stopLossPrice", "", tpsl(trading.TPSL{})},
		{"takeProfitPrice", "-1", tpsl(trading.TPSL{TakeProfit: trading.At(trading.Dec("-1")), StopLoss: trading.Clear})},
		{"takeProfitPrice, stopLossPrice or closePct", "", paperTPSL("BTC", trading.TPSL{})},
		{"closePct", "50", paperTPSL("BTC", trading.TPSL{ClosePct: trading.Some(trading.Dec("50")), ClearClosePct: true})},
		{"closePct", "clear", tpsl(trading.TPSL{StopLoss: trading.Clear, TakeProfit: trading.Clear, ClearClosePct: true})},
		{"closePct", "101", paperTPSL("BTC", trading.TPSL{ClosePct: trading.Some(trading.Dec("101"))})},
		{"symbol", "", paperTPSL("", trading.TPSL{StopLoss: trading.Clear})},
		{"op", `"PUT /orders"`, noOp},
		{"orderType", `"Market"`, odd},
		{"Raw", "Age is -1ns", tooYoung},
		{"WithClientOrderID", "paper", named},
		{"WithIdempotencyKey", "paper", keyed},
		{"symbol", "", symbol},
		{"symbol", "", unpriced},
		{"closePercent", "101", part},
		{"pct", "0.5", share},
		{"order id", "", id},
		{"order id", `".."`, path},
		{"order id", "position 3", control},
		{"totalSize", "-1", edit},
		{"execKind", "stop", exec},
		{"how", "nil", good.CheckPro(nil)},
		{"how", "nil", good.CheckPro((*trading.TWAP)(nil))},
		{"Trigger (triggerPrice)", "0", good.CheckPro(trading.Conditional{})},
		{"startPrice", "0", good.CheckPro(trading.Ladder{To: trading.Dec("1"), Rungs: 2})},
		{"totalOrders", "0", good.CheckPro(trading.Ladder{From: trading.Dec("1"), To: trading.Dec("1")})},
		{"totalOrders", "50", good.CheckPro(trading.Ladder{From: trading.Dec("1"), To: trading.Dec("1"), Rungs: 50})},
		{"totalOrders", "-1", good.CheckPro(trading.Swarm{Orders: -1})},
		{"Duration (durationMs)", "1ns", good.CheckPro(trading.TWAP{Duration: 1})},
		{"chaseTo", "clear", good.CheckPro(trading.Chase{To: trading.Clear})},
		{"chaseTo", "0", good.CheckPro(trading.ChaseTWAP{Duration: time.Hour, To: trading.At(trading.Dec("0"))})},
		{"size", "1e2147483647", order(func(o *trading.Order) { o.Size = decimal.New(1, math.MaxInt32) }).CheckPro(trading.Ladder{From: trading.Dec("6.4e4"), To: trading.Dec("6e4"), Rungs: 2})},
		{"sizeSkew", "e60000000", good.CheckPro(trading.Ladder{From: trading.Dec("64000"), To: trading.Dec("60000"), Rungs: 2, SizeSkew: trading.Some(decimal.New(1, 60000000))})},
		{"slippageBps", "e99", good.CheckPro(trading.Swarm{Orders: 1, SlippageBps: trading.Some(decimal.New(1, 99999))})},
		{"aggression", "high", good.CheckPro(trading.Swarm{Orders: 1, Aggression: trading.Some(json.RawMessage("high"))})},
		{"WithIdempotencyKey", "Since", call(trading.WithIdempotencyKey("k", trading.Since(time.Now())))},
		{"WithIdempotencyKey", "0 characters", call(trading.WithIdempotencyKey(""))},
		{"WithIdempotencyKey", "256 characters", call(trading.WithIdempotencyKey(trading.Key(strings.Repeat("k", 256))))},
		{"WithIdempotencyKey", "visible ASCII", call(trading.WithIdempotencyKey("a b"))},
		{"order type", "7", marshal(trading.OrderType(7))},
		{"order type", `"LIMIT"`, new(trading.OrderType).UnmarshalText([]byte("LIMIT"))},
		{"optional number", "", marshal(trading.Some(decimal.New(1, 99999)))},
		{"level", "", new(trading.Level).UnmarshalJSON([]byte(`"x"`))},
		{"environment", `"demo"`, of},
		{"ctx", "nil", noContext},

		{"baseURL", "", address("")},
		{"baseURL", "", address("https://x\x7f/v1")},
		{"baseURL", "user", address("https://a:b@api.test/v1")},
		{"baseURL", "host", address("https:///v1")},
		{"baseURL", "scheme", address("api.test/v1")},
		{"baseURL", `"api.test"`, address("https://api.test/v1?a=b")},
		{"baseURL", "ftp", address("ftp://api.test/v1")},
		{"baseURL", `"api.test"`, address("http://api.test/v1")},
		{"baseURL", `"api.test"`, address("https://api.test/%2f/v1")},
		{"baseURL", "/v1", address("https://api.test/api/v1")},
		{"baseURL", `"https://api.test/v2"`, address("https://api.test/v2")},
		{"baseURL", `"api.test:0"`, address("https://api.test:0/v1")},
		{"baseURL", "API key", address("https://api.test/pk_test_secret/v1")},
		{"TRADING_BASE_URL", "", func() error { t.Setenv("TRADING_BASE_URL", ""); _, err := trading.FromEnv(); return err }()},
		{"opts", "nil", made(nil)},
		{"opts", "nil", call(nil)},
		{"WithRecovery", "version is 0", made(trading.WithRecovery(trading.Recovery{Profile: &profile.Profile{}}))},
		{"WithRecovery", "ReadLag is 1s: it must be between 5s and 10m0s", made(trading.WithRecovery(trading.Recovery{ReadLag: time.Second}))},
		{"WithRecovery", "WithoutProbe", call(trading.WithRecovery(trading.Recovery{WithoutBackground: true}))},
		{"WithSandboxKey", "empty", made(trading.WithSandboxKey(""))},
		{"WithSandboxKey", "pk_live_", made(trading.WithSandboxKey("pk_live_x"))},
		{"WithLiveKey", "must begin with pk_live_", made(trading.WithLiveKey("x"))},
		{"WithLiveKey", "position 9", made(trading.WithLiveKey("pk_live_a\nb"))},
		{"WithKeyFunc", "nil", made(trading.WithKeyFunc(trading.EnvLive, nil))},
		{"WithKeyFunc", "must be sandbox or live", made(trading.WithKeyFunc("", func(context.Context) (string, error) { return "", nil }))},
		{"WithTransport", "nil", made(trading.WithTransport(nil))},
		{"WithApplication", "64", made(trading.WithApplication("a b", "1"))},
		{"WithApplication", "API key", made(trading.WithSandboxKey("pk_test_secretsecret"), trading.WithApplication("pk.test", "secretsecret"))},
		{"WithGuard", "nil", made(trading.WithGuard(nil))},
		{"WithJournal", "nil", made(trading.WithJournal(nil))},
		{"WithMaxSlippagePct", "31", made(trading.WithMaxSlippagePct(trading.Dec("31")))},
		{"WithMaxSlippagePct", "between 0.1 and 30 percent", made(trading.WithMaxSlippagePct(trading.Dec("0.01")))},
		{"WithMaxSlippagePct", "0.25", made(trading.WithMaxSlippagePct(trading.Dec("0.25")))},
		{"WithRetry", "-1", made(trading.WithRetry(trading.Retry{Attempts: -1}))},
		{"WithRetry", "MinWait is 2s: it must not be above MaxWait, which is 1s", made(trading.WithRetry(trading.Retry{MinWait: 2 * time.Second, MaxWait: time.Second}))},
		{"WithRetry", "MaxWait, which is 5s", made(trading.WithRetry(trading.Retry{MinWait: time.Minute}))},
		{"WithAttemptTimeout", "it is 0s", made(trading.WithAttemptTimeout(0))},
		{"WithSendTTL", "12m0", made(trading.WithSendTTL(12*time.Minute + 1))},
		{"WithSendTTL", "-1ns", made(trading.WithSendTTL(-1))},
		{"WithResolveTimeout", "-1ns", made(trading.WithResolveTimeout(-1))},
		{"ResponseInto", "nil", call(trading.ResponseInto(nil))},
		{"WithClientOrderID", "empty", call(trading.WithClientOrderID(""))},
		{"WithClientOrderID", "a key or an id", call(trading.WithIdempotencyKey("k"), trading.WithClientOrderID("d"))},
		{"WithIdempotencyKey", "'é' at position 1", call(trading.WithIdempotencyKey("ké"))},
		{"WithIdempotencyKey", "a key or an id", call(trading.WithClientOrderID("d"), trading.WithIdempotencyKey("k"))},
		{"WithRateLimits", "91", made(trading.WithRateLimits(trading.RateLimits{ReservePct: 91}))},
		{"WithRateLimits", "Owner", made(trading.WithRateLimits(trading.RateLimits{Store: ratelimit.NewMemoryStore()}))},
		{"WithRateLimits", "negative", made(trading.WithRateLimits(trading.RateLimits{PerKey: -1}))},
		{"WithRateLimits", "-1", made(trading.WithRateLimits(trading.RateLimits{PerPro: -1}))},
		{"WithRateLimits", "Off", made(trading.WithRateLimits(trading.RateLimits{Off: true, Store: ratelimit.NewMemoryStore(), Owner: "o"}))},
		{"WithExclusiveAccounts", "account id 2 of 2", made(trading.WithExclusiveAccounts("a", ""))},
		{"account", `"acc_3"`, trading.OnlyAccounts("acc_1")(t.Context(), trading.Write{Environment: trading.EnvLive, Account: "acc_3"})},

		{"Resolve", "disk full", notAWrite},
		{string(trading.OpOrder), "not tracked", untracked},
		{"w_1", "not pending", elsewhere},
		{"Acknowledge", "unknown", client.Acknowledge(t.Context(), "w_1", trading.Unknown, "")},
		{"Acknowledge", "w_1", client.Acknowledge(t.Context(), "w_1", trading.Applied, "")},
		{"ForgetClientOrderID", "journal", client.ForgetClientOrderID(t.Context(), "acc_1", trading.OpOrder, "d")},
		{"Resolution.Into", "answer", new(trading.Resolution).Into(new(trading.OrderResult))},
		{"Resolution.Into", "*int", (&trading.Resolution{Answer: []byte("{}")}).Into(new(int))},
		{"sandbox API key", "WithSandboxKey, or set TRADING_SANDBOX_KEY", missingKey},
		{"live API key", "WithLiveKey, or set TRADING_LIVE_KEY", missingLiveKey},
		{"function of the live key", "vault is sealed", function},
		{"WithPlaintextHTTP", "live key", plain},
		{"client", "closed", closed},
		{"journal: write w_1", "first record", begun},
	}
}

// A mistake of the caller names the field, the rule and the value, on one line.
func TestMistakesAreNamed(t *testing.T) {
	for _, row := range mistakes(t) {
		if !assert.Error(t, row.err, row.field) {
			continue
		}
		text := row.err.Error()
		assert.Contains(t, text, row.field)
		if bad := (*trading.OptionError)(nil); errors.As(row.err, &bad) {
			assert.Equal(t, row.field, bad.Option)
		}
		assert.Contains(t, text, row.value, text)
		assert.NotRegexp(t, `[\n\r\t]|[.!?]$|  `, text, "one line, and no sentence's end")
		assert.NotContains(t, text, "pk_test_secret", "no key")
	}
}

// elsewhere are texts that no mistake of the caller causes alone, and what does.
var elsewhere = map[string]string{
	"%s is %q: it must be %q, which was asked for":                             "an answer to another question: TestAnswersToAnotherQuestionAreRefused",
	"openapi must be a string":                                                 "an answer to another question: TestAnswersToAnotherQuestionAreRefused",
	"paths must be an object":                                                  "an answer to another question: TestAnswersToAnotherQuestionAreRefused",
	"status healthy comes with HTTP status 503, which means not safe to trade": "a service that contradicts itself",
	"the assessment was asked for %s ago, and holds for %s":                    "a health check that took too long",
	"the assessment was asked for %s ago, and its age is not known":            "never seen: it is asked for again",
	"the assessment is up to %s old by the service's clock, and holds for %s":  "a service that makes no new one: TestOneThatIsTooOldWhenItComes",
	"account %s is declared by WithExclusiveAccounts, and two clients trade it without knowing of each other: give both clients the same journal": "a guard that asks: TestEdge52_AGuardLearnsThatItsClientSharesNoJournal",
	"trading: DeclareExclusive: %w":                                   "a disk that fails",
	"the health is being read":                                        "a probe that waits: the reason that Pending shows",
	"account %s was last seen %s; read its state if that has changed": "an account that is locked",
	"the key was refused a moment ago and is not tried again yet: %s": "a key that the service refused",
	"the rate limit %s is full, and the call may not wait for it: FailFast, its context or its send TTL is in the way": "a full rate limit",
	"trading: RateLimitUsage: %w":                                                                          "a store that fails",
	"executed late, when its stored answer was asked for":                                                  "a late execution",
	"the call waits no longer (WithResolveTimeout)":                                                        "a write whose outcome is not known in time",
	"executed (%s), and its answer is lost":                                                                "a write that is resolved without an answer",
	"how the service keeps idempotency keys is not known yet":                                              "a fence before its calibration",
	"a newer setting is still in doubt":                                                                    "two settings of levels in doubt: TestANewerSettingOfLevelsStands",
	"the position still has other levels after %d tries":                                                   "two settings of levels in doubt: TestANewerSettingOfLevelsStands",
	"the newer levels could not be set again: %w":                                                          "two settings of levels in doubt: TestANewerSettingOfLevelsStands",
	"the %s is missing, and the account shows no position in %s to read it from: name both levels":         "an account without a position: TestTrap_T68_OneLevelAloneIsNotGuessed",
	"the %s is missing, and the position to read it from cannot be read: %w":                               "a read that fails: TestTrap_T68_OneLevelAloneIsNotGuessed",
	"required and missing: the %s; with an idempotency key or a client order id both levels must be named": "a call with a key: TestTrap_T68_OneLevelAloneIsNotGuessed",
	"the %[1]s was used at %[2]s for another request (%[3]s): the decision was made before, so read the account, and do not take a new %[1]s for it":         "an id that was used before",
	"the %[1]s is in use by write %[2]s, which is another request: the decision was made before, so wait for that write, and do not take a new %[1]s for it": "an id that is in use",
	"this idempotency key is used up: another order must have another key":                                                                                   "a key whose write was fenced: TestAGivenKeyInTheJournal",
	"the journal has no end of write %s":                                               "a journal that another process writes",
	"%w: who has held the lease of the journal meanwhile may have placed it":           "an order with an id under a lease that is over: TestADecisionWithoutTheLease",
	"trading: Acknowledge: it counts, and whether the journal has it is not known: %w": "a journal without an answer",
	"trading: Acknowledge: write %s is being asked about: %w":                          "a person whose context ends while the service is asked",
	"the earlier write has ended":                                                      "never seen: the call begins anew",
	"trading: write %s is registered already":                                          "two writes with the same id, which are random",
	"trading: Acknowledge: write %s is being sent: wait for its call":                  "a write under way",
	"write %s, %s %s: %w":                                                              "writes that Recover leaves",
	"no answer has come yet, so the request is sent once more":                         "never seen: the next send has an answer or a time-out",
	"an answer to an earlier send has come":                                            "never seen: the call comes to that answer",
	"the answers to its sends contradict each other: it ran after all, or may have run twice; read the account, and acknowledge the write": "a success after a refusal, TestAnswersThatContradictEachOther",
	"an operation that this version does not know":      "a journal of a later version",
	"trading: journal: write %s, record %d: %w":         "a journal with a record that cannot be read",
	"it is resolved, and its final record is missing":   "a journal that lacks a record",
	"trading: journal record: %w":                       "never seen: records have a JSON form",
	"the journal has not taken it in time":              "a disk that hangs",
	"the journal cannot be read: %w":                    "a disk that fails",
	"the question was held up for too long to be asked": "a disk that takes minutes over a probe",
	"the journal cannot be written: %w":                 "a disk that fails",
	"%w; nor can it be noted that it is missing: %w":    "a disk that fails twice",
	"trading: query parameter %s: %w":                   "never seen: a text is a parameter",
	"trading: account id: %w":                           "never seen: ids are checked before",
	"trading: fence: %w":                                "never seen: ids are checked before",
	"it was decided too long ago":                       "never seen: the call says how long ago, TestFound04_WhatTakesItsTimeIsNotTheJournal",
}

// Each text of an error in the client's source is that of a mistake above, or stands in
// elsewhere with what causes it.
func TestEveryErrorTextIsCaused(t *testing.T) {
	var texts []string
	for _, row := range mistakes(t) {
		if row.err != nil {
			texts = append(texts, row.err.Error())
		}
	}
	used := map[string]bool{}
	for text, position := range errorTexts(t) {
		pattern := regexp.MustCompile(textPattern(text))
		caused := false
		for _, said := range texts {
			caused = caused || pattern.MatchString(said)
		}
		if !caused && elsewhere[text] == "" {
			t.Errorf("%s: no row and no test causes %q", position, text)
		}
		used[text] = !caused
	}
	for text := range elsewhere {
		assert.True(t, used[text], "elsewhere has %q, which a row causes or nothing says", text)
	}
}

var verb = regexp.MustCompile(`%(\[\d+\])?[+#]?[a-zA-Z]`)

// textPattern matches what a format prints.
func textPattern(format string) string {
	var pattern strings.Builder
	rest := strings.ReplaceAll(format, "%%", "%")
	for {
		found := verb.FindStringIndex(rest)
		if found == nil {
			return pattern.String() + regexp.QuoteMeta(rest)
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:found[0]]) + ".*")
		rest = rest[found[1]:]
	}
}

// errorTexts are the literals that make errors in the package, or in what finds out about
// writes, with their positions.
func errorTexts(t *testing.T) map[string]string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.go", "internal/transport/address/*.go", "internal/check/*.go", "internal/resolve/*.go"} {
		some, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, some...)
	}
	makers := map[string]bool{"refuse": true, "fault": true, "refusedIf": true, "invalid": true, "fmt.Errorf": true, "errors.New": true}
	texts := map[string]string{}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || !makers[nameOfCall(call)] {
				return true
			}
			longest := ""
			for _, arg := range call.Args {
				if literal, ok := arg.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil && len(text) > len(longest) {
						longest = text
					}
				}
			}
			if verb.ReplaceAllString(strings.Trim(longest, "%w: "), "") != "" {
				texts[longest] = set.Position(call.Pos()).String()
			}
			return true
		})
	}
	require.NotEmpty(t, texts)
	return texts
}

func nameOfCall(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		if of, ok := fn.X.(*ast.Ident); ok {
			return of.Name + "." + fn.Sel.Name
		}
	}
	return ""
}
