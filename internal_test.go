package trading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/testing/leak"
	"github.com/tradingapi/trading-go/internal/wire"
)

// TestMain looks for goroutines that a client, or a test, has left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// These tests see what only the package does. All others are below internal/proof.

// What the driver shows of a write is copied by hand into the records of the program: every field.
func TestNoFieldIsLostOnItsWayOut(t *testing.T) {
	var resolved resolve.Found
	setAll(reflect.ValueOf(&resolved).Elem())
	resolved.Looks[0].Shown = []Trade{{}}
	resolved.Looks[0].Positions[resolved.Intent.Symbol] = accounting.Holding{Size: decimal.New(1, 0), EntryPrice: decimal.New(1, 0)}
	resolved.Looks[0].Finished.IDs = []string{"r"}
	requireAll(t, "Resolution", reflect.ValueOf(resolutionOf(&resolved)))
	requireAll(t, "Look", reflect.ValueOf(resolutionOf(&resolved).Looks[0]))
}

// setAll gives every exported field a value that is not zero.
func setAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(errors.New("x")))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setAll(v.Field(i))
			}
		}
	}
}

// requireAll reports each field that is zero.
func requireAll(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		field := name + "." + v.Type().Field(i).Name
		assert.False(t, v.Field(i).IsZero(), "%s is not filled: evidence.go", field)
		if v.Type().Field(i).Type == reflect.TypeFor[Intent]() {
			requireAll(t, field, v.Field(i))
		}
	}
}

func TestTrap_T27_CodesDifferByCaseAlone(t *testing.T) {
	locked := &Error{Code: "ACCOUNT_LOCKED", Status: 403, env: EnvLive}
	assert.ErrorIs(t, locked, CodeEquityCheckLocked)
	assert.NotErrorIs(t, locked, CodeAccountLocked)
	assert.ErrorIs(t, locked, ErrAccountLocked)
	price := &Error{Code: "NO_PRICE", Status: 409}
	assert.ErrorIs(t, price, CodeNoFillPrice)
	assert.NotErrorIs(t, price, CodeNoPrice)
	assert.ErrorIs(t, price, ErrNoPrice)
}

func TestTrap_T29_OneSentinelForBothEnvironments(t *testing.T) {
	assert.ErrorIs(t, &Error{Code: "order_not_marketable", Status: 409, env: EnvSandbox}, ErrNotMarketable)
	assert.ErrorIs(t, &Error{Code: "NOT_MARKETABLE", Status: 400, env: EnvLive}, ErrNotMarketable)
}

func TestAdviceOf(t *testing.T) {
	refusal := func(code Code, status int, outcome Outcome) error {
		return &WriteError{Outcome: outcome, Err: &Error{Code: code, Status: status, env: EnvLive, ended: ended{outcome}}}
	}
	tracked := func(code Code, status int) error {
		return &WriteError{Outcome: Unknown, Intent: "w-1", Err: &Error{Code: code, Status: status, env: EnvLive, ended: ended{Unknown}}}
	}
	held := func(kind Kind, cause error) error {
		return &WriteError{Outcome: NotApplied, Err: &GuardError{Kind: kind, Err: cause, ended: ended{NotApplied}}}
	}
	errJournal := &GuardError{Kind: ErrJournal}
	for _, row := range []struct {
		err  error
		want Advice
	}{
		{nil, AdviseNever},
		{refusal(CodeBadSize, 400, NotApplied), AdviseChange},
		{refusal(CodeRateLimited, 429, NotApplied), AdviseWait},
		{refusal(CodeRateLimited, 429, Unknown), AdviseRead}, // doubt stands above the table, and nothing finds out about this one
		{tracked(CodeRateLimited, 429), AdviseResolve},
		{tracked(CodeInternalError, 500), AdviseResolve},
		{tracked(CodeIdempotencyInFlight, 409), AdviseResolve},
		{&WriteError{Outcome: Unknown, NotSent: true, Err: errJournal}, AdviseSameKey}, // the same id finds out
		{&WriteError{Outcome: Unknown, NotSent: true, Intent: "w-1", Err: errJournal}, AdviseResolve},
		// What was found out stands above what the request met.
		{refusal(CodeIdempotencyInFlight, 409, Applied), AdviseRead},
		{refusal(CodeRateLimited, 429, Applied), AdviseRead},
		{refusal(CodeInternalError, 500, NotApplied), AdviseNewKey},
		{refusal(CodeIdempotencyInFlight, 409, NotApplied), AdviseNewKey},
		{refusal(CodeIdempotencyKeyReused, 422, NotApplied), AdviseNever},
		// What a guard met is not what the write met.
		{held(ErrUnhealthy, &Error{Code: CodeInternalError, Status: 500}), AdviseNewKey},
		{held(ErrGuard, &Error{Code: CodeBadRequest, Status: 400}), AdviseNewKey},
		{held(ErrAccountLocked, &Error{Code: CodeAccountLocked, Status: 403, env: EnvLive}), AdviseNever},
		{held(ErrPendingWrite, &PendingError{IDs: []IntentID{"w-1"}}), AdviseResolve},
		{&WriteError{Outcome: NotApplied, Err: context.DeadlineExceeded}, AdviseSameKey},
		{&WriteError{Outcome: NotApplied, Err: ErrClosed}, AdviseNever},
		{fmt.Errorf("%w: of Resolve", ErrUndetermined), AdviseResolve},
		{&PendingError{IDs: []IntentID{"w-1"}}, AdviseResolve},
		{&WriteError{Outcome: NotApplied, Err: &TransportError{Err: errors.New("refused"), ended: ended{NotApplied}}}, AdviseSameKey},
		{&WriteError{Outcome: Unknown, Err: &TransportError{Written: true, Err: errors.New("cut")}, Intent: "w-1"}, AdviseResolve},
		{&WriteError{Outcome: NotApplied, Err: &GuardError{Kind: ErrUnhealthy, ended: ended{NotApplied}}}, AdviseNewKey},
		{&WriteError{Outcome: Applied, Err: &DecodeError{Err: errors.New("odd"), ended: ended{Applied}}}, AdviseRead},
		{&GatewayError{ended: ended{NotApplied}}, AdviseSameKey},
		{errors.New("somebody else's"), AdviseRead},
	} {
		assert.Equal(t, row.want, AdviceOf(row.err), "%v", row.err)
	}
	assert.Equal(t, Applied, OutcomeOf(nil))
	assert.Equal(t, Unknown, OutcomeOf(errors.New("somebody else's")))
}

// A key reaches all accounts of its holder, and the guard leaves those that it names, and the paper account.
func TestOnlyAccounts(t *testing.T) {
	guard := OnlyAccounts("acc_1", "acc_2")
	for _, row := range []struct {
		write Write
		pass  bool
	}{
		{Write{Environment: EnvLive, Account: "acc_2"}, true},
		{Write{Environment: EnvLive, Account: "acc_3"}, false},
		{Write{Environment: EnvLive}, false},
		{Write{Environment: EnvSandbox}, true},
	} {
		assert.Equal(t, row.pass, guard(t.Context(), row.write) == nil, "%+v", row.write)
	}
}

func digestedTrade() Trade {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	return Trade{
		Symbol: "BTC", Side: Long, Cause: CauseMarket, Size: Some(Dec("0.5")), EntryPrice: Some(Dec("64000")),
		ExitPrice: Dec("64100"), GrossPnL: Dec("50"), RoundTripFee: Dec("28.8"), OpenedAt: at, ClosedAt: at.Add(time.Hour),
		Extra: Extra{"note": json.RawMessage(`"x"`), "leverage": json.RawMessage(`2`)},
	}
}

// Two trades have the same digest exactly if nothing differs, whichever way their
// numbers were written.
func TestTradeDigests(t *testing.T) {
	one := digestedTrade()
	want := digestOfTrade(&one)
	again := digestedTrade()
	again.ExitPrice = Dec("64100.00")
	again.OpenedAt = again.OpenedAt.In(time.FixedZone("", 3600))
	assert.Equal(t, want, digestOfTrade(&again))
	again.ExitPrice, again.GrossPnL = decimal.New(641, 2), decimal.RequireFromString("50.00000000000000000000")
	assert.Equal(t, want, digestOfTrade(&again))
	assert.Equal(t, uint64(0x8483cb618d8bfc82), want, "a journal outlives the process that wrote it")

	seen := map[uint64]string{want: "unchanged"}
	for name, change := range map[string]func(*Trade){
		"Symbol":       func(t *Trade) { t.Symbol = "ETH" },
		"Side":         func(t *Trade) { t.Side = Short },
		"Cause":        func(t *Trade) { t.Cause = CauseStopLoss },
		"Size":         func(t *Trade) { t.Size = Some(Dec("0.6")) },
		"EntryPrice":   func(t *Trade) { t.EntryPrice = Some(Dec("1")) },
		"ExitPrice":    func(t *Trade) { t.ExitPrice = Dec("1") },
		"GrossPnL":     func(t *Trade) { t.GrossPnL = Dec("-50") },
		"RoundTripFee": func(t *Trade) { t.RoundTripFee = Dec("1") },
		"OpenedAt":     func(t *Trade) { t.OpenedAt = t.OpenedAt.Add(1) },
		"ClosedAt":     func(t *Trade) { t.ClosedAt = time.Time{} },
		"Extra":        func(t *Trade) { t.Extra = Extra{"note": json.RawMessage(`"x"`)} },
	} {
		changed := digestedTrade()
		change(&changed)
		digest := digestOfTrade(&changed)
		require.Empty(t, seen[digest], name)
		seen[digest] = name
	}
	none := digestedTrade()
	none.Size, none.EntryPrice = none.EntryPrice, Opt[decimal.Decimal]{}
	assert.NotContains(t, seen, digestOfTrade(&none))
	assert.Len(t, seen, reflect.TypeFor[Trade]().NumField()+1, "each field counts")
}

// A time that cannot be read is kept as it came.
func TestATimeThatCannotBeRead(t *testing.T) {
	at := wire.NewDecoder([]byte(`"the day before \"yesterday\""`)).Time()
	var extra map[string]json.RawMessage
	assert.True(t, timeOf(at, "openedAt", &extra).IsZero())
	assert.JSONEq(t, `"the day before \"yesterday\""`, string(extra["openedAt"]))
	assert.True(t, timeOf(wire.Timestamp{}, "closedAt", &extra).IsZero())
	assert.Len(t, extra, 1, "one that is missing leaves nothing")
}

func TestAWaitIsSpreadOverItsUpperHalf(t *testing.T) {
	for _, wait := range []time.Duration{-1, 0, 1, 200 * time.Millisecond, 5 * time.Second} {
		for range 100 {
			assert.GreaterOrEqual(t, spread(wait), wait/2)
			assert.LessOrEqual(t, spread(wait), max(wait, 0))
		}
	}
}

// Who leaves as its turn comes passes it on.
func TestATurnThatNobodyTakes(t *testing.T) {
	var writer turn
	for range 100 {
		require.NoError(t, writer.take(t.Context(), false, nil))
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- writer.take(ctx, false, nil) }()
		for waits := false; !waits; {
			writer.mu.Lock()
			waits = len(writer.entries) > 0
			writer.mu.Unlock()
		}
		writer.mu.Lock() // both come at once
		cancel()
		close(writer.entries[0])
		writer.entries = nil
		writer.mu.Unlock()
		if <-left == nil {
			writer.giveBack()
		}
		require.False(t, writer.taken)
	}
}

// Who leaves takes nobody else along.
func TestLeavingAQueueOfTurns(t *testing.T) {
	var writer turn
	one, two, three := make(chan struct{}), make(chan struct{}), make(chan struct{})
	writer.entries = []chan struct{}{one, two, three}
	assert.True(t, writer.leave(&writer.entries, two))
	assert.Equal(t, []chan struct{}{one, three}, writer.entries)
	assert.False(t, writer.leave(&writer.entries, two))
}

// FuzzKeys takes any API key, idempotency key and client order id: what is accepted can
// be a header, what is printed does not tell an API key, and no two orders share a
// name.
func FuzzKeys(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, account, id string, cut uint8) {
		for _, env := range []Environment{EnvSandbox, EnvLive} {
			if err := checkKey(env, text); err != nil {
				if len(err.Error()) > 200 {
					t.Fatalf("the error grows with the key: %v", err)
				}
				continue
			}
			if other := map[Environment]Environment{EnvSandbox: EnvLive, EnvLive: EnvSandbox}[env]; checkKey(other, text) == nil {
				t.Fatalf("%q is of both environments", text)
			}
			require.True(t, visible(text), "%q is accepted", text)
			key := newAPIKey(text)
			if key.Reveal()[0] != text {
				t.Fatalf("%q is sent as %q", text, key.Reveal())
			}
		}
		if refused := check.IdempotencyKey(text) != nil; refused != (text == "" || len(text) > 255 || !visible(text)) {
			t.Fatalf("idempotency key %q: refused is %v", text, refused)
		}

		if id == "" {
			return
		}
		nameOf := func(account string, op Operation, id string) string {
			return (&keySource{id: id}).name(AccountID(account), op)
		}
		name := nameOf(account, OpOrder, id)
		if key := derived(name, int(cut)); check.IdempotencyKey(string(key)) != nil {
			t.Fatalf("client order id %q of account %q has the key %q", id, account, key)
		}
		joined := account + id
		n := min(int(cut), len(joined)-1)
		if other := nameOf(joined[:n], OpOrder, joined[n:]); (other == name) != (n == len(account)) {
			t.Fatalf("%q, cut at %d and at %d: the same name is %v", joined, len(account), n, other == name)
		}
		if nameOf(account, OpLimit, id) == name || (&keySource{given: Key(id)}).name(AccountID(account), OpOrder) == name {
			t.Fatalf("client order id %q of account %q shares its name", id, account)
		}
	})
}

// visible reports whether a text has visible ASCII characters only.
func visible(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// CheckHealth asks the health gate of a client, as an entry does.
func CheckHealth(ctx context.Context, c *Client) error {
	return c.core.gate.guard(ctx, Write{Entry: true})
}

func TestExiting(t *testing.T) {
	assert.True(t, resolve.IsExiting(Exiting(t.Context())))
	assert.False(t, resolve.IsExiting(t.Context()))
}

// A paper order that is sent again is another one: where a write is in flight it may be this very one.
func TestFound03_TwoPaperOrdersInFlight(t *testing.T) {
	assert.Equal(t, AdviseNewKey, AdviceOf(&Error{Code: CodeConcurrentRequest, Status: 409, env: EnvSandbox, ended: ended{NotApplied}}))
	for rule := range Rules() {
		assert.False(t, rule.Environment == EnvSandbox && rule.Advice == AdviseSameKey, "%s", rule.Code)
		assert.False(t, rule.Outcome == Unknown && rule.Advice != AdviseResolve, "%s", rule.Code)
	}
}
