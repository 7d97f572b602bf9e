package hostile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

var eachAnswer = flag.Int("answers.each", 101, "try each so many-th of some 190,000 answers of a gateway; 1 tries all, in minutes")

// gatewayBodies are the bodies that a gateway answers with in place of the service, by
// what is special about them.
var gatewayBodies = []struct{ name, body string }{
	{"a code that nobody knows", refusalJSON("upstream_timeout")},
	{"a code of another operation", refusalJSON("order_rejected")},
	{"a code of every operation", refusalJSON("internal_error")},
	{"unauthorized", refusalJSON("unauthorized")},
	{"invalid_api_key", refusalJSON("invalid_api_key")},
	{"forbidden", refusalJSON("forbidden")},
	{"api_access_denied", refusalJSON("api_access_denied")},
	{"not_found", refusalJSON("not_found")},
	{"account_not_found", refusalJSON("account_not_found")},
	{"a code of Pro orders", refusalJSON("BAD_DURATION")},
	{"bad_size", refusalJSON("bad_size")},
	{"success false", `{"success":false,"error":"bad_size","message":"no"}`},
	{"ok false", `{"ok":false,"error":"bad_size","message":"no"}`},
	{"success beside an error", `{"success":true,"error":"bad_size","message":"no"}`},
	{"an empty code", refusalJSON("")},
	{"a code with spaces", refusalJSON("bad size")},
	{"a code with NUL", `{"error":"bad_size\u0000","message":"no"}`},
	{"a code that is no UTF-8", "{\"error\":\"bad_size\xff\",\"message\":\"no\"}"},
	{"a code and no message", `{"error":"bad_size"}`},
	{"HTML", "<html>gateway</html>"},
	{"nothing", ""},
	{"half of an error", `{"error":"bad_size","mess`},
	{"an array", `[{"error":"bad_size","message":"no"}]`},
	{"an error that is too long", `{"error":"bad_size","message":"` + strings.Repeat("x", 1<<20) + `"}`},
}

func refusalJSON(code string) string { return fmt.Sprintf(`{"error":%q,"message":"no"}`, code) }

// exact are the answers with which a gateway speaks just as the service: with a code that
// the contract gives the operation with the status, and that comes from its route.
func exact(op trading.Operation, body string, status int) bool {
	pro := op != trading.OpOrder && op != trading.OpLimit && op != trading.OpClose && op != trading.OpEditRun
	switch body {
	case "bad_size":
		return status == 400 && op != trading.OpClose
	case "a code of Pro orders":
		timed := op == trading.OpTWAP || op == trading.OpChaseTWAP
		return pro && timed && (status == 400 || status == 401 || status == 403 || status == 404 || status == 409 || status == 422 || status == 429)
	default:
		return false
	}
}

// tradingCalls are the live operations that can trade, each on an account that it suits.
var tradingCalls = []struct {
	op      trading.Operation
	prepare func(rig.Rig)
	call    func(context.Context, *trading.Account) error
}{
	{trading.OpOrder, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlaceOrder(ctx, rig.Buy("0.05")))
	}},
	{trading.OpLimit, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlaceLimit(ctx, rig.Buy("0.05", func(o *trading.Order) { o.LimitPrice = rig.At("60000") })))
	}},
	{trading.OpClose, func(r rig.Rig) { r.Open(rig.Buy("0.4")) }, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.ClosePosition(ctx, "BTC", trading.Percent(rig.Dec("50"))))
	}},
	{trading.OpConditional, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.05"), trading.Conditional{Trigger: rig.Dec("90000")}))
	}},
	{trading.OpLadder, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.05"), trading.Ladder{From: rig.Dec("50000"), To: rig.Dec("49000"), Rungs: 5}))
	}},
	{trading.OpTWAP, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.2"), trading.TWAP{Duration: 4 * time.Hour}))
	}},
	{trading.OpChase, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.05"), trading.Chase{}))
	}},
	{trading.OpChaseTWAP, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.2"), trading.ChaseTWAP{Duration: 4 * time.Hour}))
	}},
	{trading.OpSwarm, nil, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlacePro(ctx, rig.Buy("0.05"), trading.Swarm{Orders: 5}))
	}},
	{trading.OpEditRun, func(r rig.Rig) {
		_, err := r.Account().PlacePro(r.T.Context(), rig.Buy("0.2"), trading.TWAP{Duration: 4 * time.Hour})
		require.NoError(r.T, err)
	}, func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.EditRun(ctx, "run_1", rig.Dec("0.3")))
	}},
}

// A gateway that answers for the service, after the work or before it, with each status and
// each kind of body, over each live operation that trades: no write that ran is called
// NotApplied, none that did not Applied, and none runs twice. What a gateway says that
// speaks just as the service cannot be told from the service's own word.
func TestAGatewayAnswersForTheService(t *testing.T) {
	tried, unknown, wrong := 0, 0, []string(nil)
	next := 0 // against a prime, so that a sample meets all that there is
	for _, op := range tradingCalls {
		for _, body := range gatewayBodies {
			for status := 400; status < 600; status++ {
				for _, after := range []bool{false, true} {
					for _, times := range []int{1, 3} {
						if next++; next%*eachAnswer != 0 || after && exact(op.op, body.name, status) {
							continue
						}
						tried++
						synctest.Test(t, func(t *testing.T) {
							r := rig.New(t, nil, trading.WithExclusiveAccounts(rig.Acc))
							if op.prepare != nil {
								op.prepare(r)
							}
							r.ReadAll()
							before := r.Ran(op.op)
							header := http.Header{"Content-Type": {"application/json"}}
							for range times {
								fault := tradingsim.Raw(status, header, body.body)
								if after {
									fault = tradingsim.RawAfter(status, header, body.body)
								}
								r.Sim.Fault(string(op.op), fault)
							}
							err := op.call(t.Context(), r.Account())
							said := trading.OutcomeOf(err)
							if said == trading.Unknown {
								unknown++
								if write := (*trading.WriteError)(nil); errors.As(err, &write) && write.Intent != "" {
									if resolution, _ := r.Resolved(err); resolution != nil {
										said = resolution.Outcome
									}
								}
							}
							ran := r.Ran(op.op) - before
							if ran > 1 || said == trading.Applied && ran == 0 || said == trading.NotApplied && ran > 0 {
								wrong = append(wrong, fmt.Sprintf("%s, %d, %s, after the work: %t, %d times: it ran %d times, and the verdict is %v: %.300v",
									op.op, status, body.name, after, times, ran, said, err))
							}
						})
					}
				}
			}
		}
	}
	assert.Empty(t, wrong[:min(len(wrong), 20)], "%d of %d", len(wrong), tried)
	t.Logf("%d answers, %d of them in doubt when the call returned", tried, unknown)
}

// Beside that the service's own refusals are told as what they are.
func TestTrap_T24_TheServicesRefusalsStay(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		code   trading.Code
	}{
		"of this operation":             {400, trading.CodeBadSize},
		"of every operation with a key": {403, trading.CodeWrongEnvironment},
		"a new code":                    {400, "TEAPOT"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Sim.Fault("POST /orders", tradingsim.Fail(row.status, string(row.code)))
				r.Sim.Fault("POST /sandbox/orders", tradingsim.Fail(row.status, string(row.code)))
				_, live := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.ErrorIs(r.T, live, row.code)
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(live), "by its replay, if by nothing else: %v", live)
				require.ErrorIs(r.T, r.Refused(rig.Buy("0.05")), row.code)
				assert.Empty(r.T, r.Fills())
			})
		})
	}
}

// D 1: a 5xx of the service in its own shape may have run, whatever its code: it is not sent
// again, and the verdict is found out.
func TestEdge01_AnOwn5xxIsNeverSentAgain(t *testing.T) {
	for _, answer := range []struct {
		status int
		code   string
	}{
		{500, "database_error"}, {500, "unavailable"}, {502, "internal_error"}, {503, "maintenance"}, {504, "internal_error"},
		{504, "upstream_timeout"}, {500, "no_price"}, {503, "order_rejected"}, {599, "X"},
	} {
		for _, op := range tradingCalls {
			for _, ran := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %d %s ran %t", op.op, answer.status, answer.code, ran), func(t *testing.T) {
					rig.LiveTest(t, nil, []trading.Option{rig.Sole}, func(r rig.Rig) {
						if op.prepare != nil {
							op.prepare(r)
						}
						r.ReadAll()
						sent, executed := r.Sent(op.op), r.Ran(op.op)
						fault, want := tradingsim.Fail(answer.status, answer.code), 0
						if ran {
							fault, want = tradingsim.FailAfter(answer.status, answer.code), 1
						}
						r.Sim.Fault(string(op.op), fault)
						err := op.call(r.T.Context(), r.Account(trading.WithResolveTimeout(0)))
						require.ErrorIs(r.T, err, trading.Code(answer.code))
						require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
						wrong := []trading.Outcome{trading.Applied, trading.NotApplied}[want]
						resolution, _ := r.Resolved(err)
						require.NotNil(r.T, resolution)
						assert.NotEqual(r.T, wrong, resolution.Outcome)
						if op.op == trading.OpOrder {
							assert.NotEqual(r.T, trading.Unknown, resolution.Outcome)
						}
						assert.Equal(r.T, want, r.Ran(op.op)-executed)
						assert.Equal(r.T, 1, r.Sent(op.op)-sent)
					})
				})
			}
		}
	}
}

// D 39: a gateway that turns an answer away in the service's own words, after the work, is
// not believed: a second, different question gets another answer. A key or an account that
// is really refused decides at once, at the cost of one read.
func TestEdge39_WhatIsTurnedAwayIsAskedAbout(t *testing.T) {
	codes := map[string]int{
		"invalid_api_key": 401, "unauthorized": 401, "wrong_environment": 403, "api_access_denied": 403, "forbidden": 403,
		"account_not_found": 404, "not_found": 404,
	}
	for code, status := range codes {
		t.Run(code, func(t *testing.T) {
			rig.LiveTest(t, nil, []trading.Option{rig.Sole}, func(r rig.Rig) {
				r.ReadAll()
				r.Sim.Fault("POST /orders", tradingsim.GatewayJSONAfter(status, code))
				result, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.NoError(r.T, err, "its stored answer says that it ran")
				assert.NotNil(r.T, result)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
			rig.LiveTest(t, nil, nil, func(r rig.Rig) { // both questions are turned away
				for _, op := range []string{"POST /positions/close", "GET /accounts/{accountId}"} {
					r.Sim.Fault(op, tradingsim.GatewayJSON(status, code))
				}
				began := time.Now()
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
				require.ErrorIs(r.T, err, trading.Code(code))
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
				assert.Equal(r.T, 1, strings.Count(err.Error(), "The gateway answered"), "%v", err)
				assert.Zero(r.T, time.Since(began))
				assert.Equal(r.T, 1, r.Sent(trading.OpState))
				pending, pendingErr := r.Pending(r.T.Context())
				require.NoError(r.T, pendingErr)
				assert.Empty(r.T, pending)
			})
		})
	}
}

// D 29: where the base URL redirects, each call ends at once with a RedirectError: nothing is
// found out there, so nobody waits for it. A write that was sent may have run all the same.
func TestEdge29_ABaseURLThatRedirectsCostsNoTime(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, call := range map[string]func(context.Context, *trading.Account) error{
			"an entry": func(ctx context.Context, a *trading.Account) error {
				return rig.Only(a.PlaceOrder(ctx, rig.Buy("0.05")))
			},
			"an exit": func(ctx context.Context, a *trading.Account) error {
				return rig.Only(a.ClosePosition(ctx, "BTC", trading.All))
			},
			"a read": func(ctx context.Context, a *trading.Account) error { return rig.Only(a.Trades(ctx)) },
		} {
			for _, gate := range []bool{false, true} {
				rig.LiveTest(t, nil, []trading.Option{trading.WithHealthGate(trading.HealthGate{Off: !gate})}, func(r rig.Rig) {
					r.Sim.FaultEach(func(string) tradingsim.Fault {
						return tradingsim.Raw(status, http.Header{"Location": {"https://api.example.test/v1"}}, "")
					})
					began := time.Now()
					err := call(r.T.Context(), r.Account())
					what := fmt.Sprintf("%s, %d, gate %t: %v", name, status, gate, err)
					redirect := (*trading.RedirectError)(nil)
					require.ErrorAs(r.T, err, &redirect, what)
					assert.Equal(r.T, "https://api.example.test/v1", redirect.Location)
					assert.Zero(r.T, time.Since(began), what)
					wrote := r.Sent(trading.OpOrder) + r.Sent(trading.OpClose)
					assert.LessOrEqual(r.T, wrote, 1, what)
					assert.Equal(r.T, wrote == 0, trading.OutcomeOf(err) == trading.NotApplied, what)
				})
			}
		}
	}
}

// So does a write that alone is redirected, where its outcome could be found out: the background does that.
func TestAWriteThatAloneIsRedirectedIsNotWaitedFor(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.ReadAll()
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Raw(307, http.Header{"Location": {"https://elsewhere.example/v1"}}, ""))
		began := time.Now()
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		redirect := (*trading.RedirectError)(nil)
		require.ErrorAs(r.T, err, &redirect)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.Zero(r.T, time.Since(began))
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
	})
}

// D 20: a refusal with a code that nobody knows, or that the contract does not give the
// operation, is believed when the service repeats it, whatever stands on the way.
func TestEdge20_AReplayIsBelievedWhateverItsCode(t *testing.T) {
	for _, code := range []string{"TEAPOT", "order_rejected", "rate_limited"} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			r := rig.Join(t, sim, trading.WithTransport(rig.Changed(sim.Transport(), func(_ *http.Request, h http.Header) { rig.ByEdge(h) })))
			sim.Fault("POST /orders", tradingsim.Together(tradingsim.Fail(403, code)))
			began := time.Now()
			_, err := r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"))
			require.ErrorIs(t, err, trading.Code(code))
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
			assert.Less(t, time.Since(began), 15*time.Second)
			assert.Empty(t, r.Fills())
		})
	}
}

// D 39, of a key whose first use is not known, and of the paper account.
func TestEdge39_OtherKeysAndThePaperAccount(t *testing.T) {
	id := trading.WithClientOrderID("breakout")
	for _, status := range []int{401, 403, 404} {
		code := map[int]string{401: "invalid_api_key", 403: "forbidden", 404: "account_not_found"}[status]
		t.Run(code, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) { // a gateway, after the work: the id runs once
				r.Sim.Fault("POST /orders", tradingsim.GatewayJSONAfter(status, code))
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), id)
				require.NoError(r.T, err)
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), id)
				require.NoError(r.T, err)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
			rig.LiveTest(t, nil, nil, func(r rig.Rig) { // turned away twice: nothing is pending, and the same key goes again
				r.Sim.Fault("POST /orders", tradingsim.GatewayJSON(status, code))
				r.Sim.Fault("GET /accounts/{accountId}", tradingsim.GatewayJSON(status, code))
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), id)
				require.ErrorIs(r.T, err, trading.Code(code))
				assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "an earlier run may have used the id")
				write := (*trading.WriteError)(nil)
				require.ErrorAs(r.T, err, &write)
				assert.Empty(r.T, write.Intent)
				pending, pendingErr := r.Pending(r.T.Context())
				require.NoError(r.T, pendingErr)
				assert.Empty(r.T, pending)
				time.Sleep(time.Minute) // the key is tried again
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), id)
				require.NoError(r.T, err)
				keys := r.KeysOf(trading.OpOrder)
				assert.Equal(r.T, keys[0], keys[len(keys)-1])
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
			if status == 404 {
				return // no account is named
			}
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r.Sim.Fault("POST /sandbox/orders", tradingsim.GatewayJSONAfter(status, code))
				_, err := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.ErrorIs(r.T, err, trading.Code(code))
				assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				assert.Equal(r.T, 1, r.Sent(trading.OpSandboxOrder))
			})
		})
	}
}
