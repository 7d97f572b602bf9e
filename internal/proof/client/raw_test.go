package client

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rawOrder has spaces, an order of members and a spelling of numbers that the client would not
// write.
const rawOrder = `"symbol" : "BTC", "side":"long", "size":1.0e-2, "leverage":2.00, "stopLossPrice":60000.0`

const rawBuy = `{"accountId":"acc_1",` + rawOrder + `}`

// rawBodies are the examples of the description, in a layout that the client would not write.
func rawBodies(t *testing.T) map[trading.Operation]string {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var description struct {
		Paths map[string]map[string]struct {
			Body struct {
				Content map[string]struct {
					Examples map[string]struct{ Value map[string]json.RawMessage }
				}
			} `json:"requestBody"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &description))
	bodies := map[trading.Operation]string{}
	for path, methods := range description.Paths {
		for method, o := range methods {
			for _, example := range o.Body.Content["application/json"].Examples {
				if _, live := example.Value["accountId"]; live {
					example.Value["accountId"] = json.RawMessage(`"acc_1"`)
				}
				body, err := json.MarshalIndent(example.Value, " ", "\t")
				require.NoError(t, err)
				bodies[trading.Operation(strings.ToUpper(method)+" "+path)] = wholeNumber.ReplaceAllString(string(body), "$1.0$2")
			}
		}
	}
	return bodies
}

var wholeNumber = regexp.MustCompile(`(: [0-9]+)([,\n])`)

// Do carries out every operation of the contract: a write byte for byte.
func TestDoSendsWhatItIsGiven(t *testing.T) {
	bodies := rawBodies(t)
	for _, o := range spec.Operations() {
		op := trading.Operation(o.Method + " " + o.Path)
		t.Run(string(op), func(t *testing.T) {
			r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
			body := bodies[op]
			request := trading.Raw{Body: []byte(body), Environment: trading.EnvLive}
			if !o.Write {
				request.Account = rig.Acc
			}
			meta, err := r.Do(t.Context(), op, request, trading.WithRetry(trading.Retry{Attempts: 1}))
			require.NotErrorAs(t, err, new(*trading.OptionError), "raw.go carries out a write; live.go or sandbox.go a read")
			if err != nil { // there is no position, no order and no run
				assert.False(t, rig.RefusalOf(t, err).Local, "%v", err)
			}
			assert.True(t, meta.Settled)
			assert.NotEmpty(t, meta.Body)
			assert.Equal(t, op, meta.Operation)
			sent := r.BodiesOf(op)
			require.Len(t, sent, 1)
			assert.Equal(t, body, sent[0])
			if o.Write && o.Env == "live" && o.Asks != spec.AsksNothing {
				assert.NotEmpty(t, meta.Intent)
			}
		})
	}
}

// What could be read in two ways is refused before it is sent.
func TestDoReadsStrictly(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
	for body, code := range map[string]trading.Code{
		`{"accountId":"acc_1",` + rawOrder + `,"size":2}`:      trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,"s\u0069ze":2}`: trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,"Size":2}`:      trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"note":2}`:      trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `} {}`:            trading.CodeInvalidJSON,
		`{"accountId":"acc_1",` + rawOrder + `,}`:              trading.CodeInvalidJSON,
		`[]`:   trading.CodeInvalidJSON,
		``:     trading.CodeInvalidJSON,
		`null`: trading.CodeInvalidJSON,
		`{"accountId":"acc_1","symbol":"BTC","side":"long","size":"1"}`: trading.CodeBadSize,
		`{"accountId":"acc_1","symbol":"BTC","side":1}`:                 trading.CodeBadSide,
		`{"accountId":7}`: trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"reduceOnly":"false"}`:        trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"orderType":"Market"}`:        trading.CodeBadRequest,
		`{"accountId":"acc_2",` + rawOrder + `}`:                             trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"expectedPrice":1e999}`:       trading.CodeBadRequest,
		`{"accountId":"acc_1",` + rawOrder + `,"limitPrice":60000}`:          trading.CodeBadLimitPrice,
		`{"accountId":"acc_1","symbol":"BTC","side":"long","leverage":null}`: trading.CodeMissingFields,
	} {
		meta, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Account: rig.Acc, Body: []byte(body)})
		require.ErrorIs(t, err, code, body)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.True(t, rig.RefusalOf(t, err).Local)
		assert.False(t, meta.Settled)
	}
	assert.Zero(t, r.Sent(trading.OpOrder))

	meta, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(`{"accountId":"acc_1",` + rawOrder + `,"note":{"x":[]}}`), Ignored: []string{"note"}})
	require.NoError(t, err)
	assert.True(t, meta.Settled)
}

// Nothing is added: neither the client's slippage, nor a part, nor the level that is left out.
func TestDoAddsNothing(t *testing.T) {
	var judged []trading.Write
	guard := func(_ context.Context, w trading.Write) error { judged = append(judged, w); return nil }
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, trading.WithMaxSlippagePct(trading.Dec("1")), trading.WithGuard(guard))
	for _, w := range []struct {
		op   trading.Operation
		body string
	}{{trading.OpOrder, rawBuy}, {trading.OpTPSL, `{"symbol":"BTC","accountId":"acc_1","stopLossPrice":60000}`}, {trading.OpClose, `{"symbol":"BTC","accountId":"acc_1"}`}} {
		_, err := r.Do(t.Context(), w.op, trading.Raw{Body: []byte(w.body)})
		require.NoError(t, err)
		assert.Equal(t, []string{w.body}, r.BodiesOf(w.op))
	}
	assert.Zero(t, r.Sent(trading.OpPositions), "no level is read")
	require.Len(t, judged, 3)
	assert.Equal(t, "0.01", judged[0].Order.Size.String())
	assert.True(t, judged[0].Order.MaxSlippagePct.IsZero())
	assert.True(t, judged[0].Entry)
	assert.Equal(t, []any{rig.Acc, "BTC", false}, []any{judged[2].Account, judged[2].Symbol, judged[2].Entry})
}

// An order that only shrinks is an exit, however it is sent.
func TestDoKnowsAnExit(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
	r.Halt("test")
	_, err := r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(rawBuy)})
	require.ErrorIs(t, err, trading.ErrHalted)
	_, err = r.Do(t.Context(), trading.OpOrder, trading.Raw{Body: []byte(`{"accountId":"acc_1",` + rawOrder + `,"reduceOnly":true}`)})
	require.ErrorIs(t, err, trading.CodeNoPosition)
}

// A decision that waited elsewhere has less time.
func TestAnOldDecisionIsNotSent(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithAge(11*time.Second))
		require.ErrorIs(r.T, err, trading.ErrExpired)
		assert.Zero(r.T, r.Sent(trading.OpOrder))
		r.Open(rig.Buy("0.05"), trading.WithAge(9*time.Second))
		_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithAge(-1))
		require.ErrorContains(r.T, err, "must not be negative")
	})
}

// A given key has one answer, whoever asks: of a lost one too, and of a refusal after a restart.
func TestDoRepeatsTheAnswerOfAGivenKey(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d)
		mine, tiny := trading.WithIdempotencyKey("mine"), trading.WithIdempotencyKey("tiny")
		request := trading.Raw{Body: []byte(rawBuy)}
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		first, err := r.Do(r.T.Context(), trading.OpOrder, request, mine)
		require.NoError(r.T, err)
		assert.True(r.T, first.Settled)
		assert.True(r.T, first.Replayed)
		assert.Equal(r.T, "true", first.Header.Get("Idempotent-Replayed"))
		small := trading.Raw{Body: []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.00001,"leverage":2}`)}
		refused, err := r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.True(r.T, refused.Settled)
		sent := r.Sent(trading.OpOrder)
		r = r.Restart(d)
		again, err := r.Do(r.T.Context(), trading.OpOrder, request, mine)
		require.NoError(r.T, err)
		assert.JSONEq(r.T, string(first.Body), string(again.Body))
		assert.True(r.T, again.Settled)
		repeated, err := r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, refused.Status, repeated.Status)
		assert.JSONEq(r.T, string(refused.Body), string(repeated.Body))
		assert.True(r.T, repeated.Settled)
		assert.Equal(r.T, sent, r.Sent(trading.OpOrder), "nothing was sent")

		require.NoError(r.T, r.ForgetKey(r.T.Context(), "tiny"))
		_, err = r.Do(r.T.Context(), trading.OpOrder, small, tiny)
		require.ErrorIs(r.T, err, trading.CodeMinNotional)
		assert.Equal(r.T, sent+1, r.Sent(trading.OpOrder), "the service is asked again")
	})
}

// An answer is not to be passed on where it is not what the call came to.
func TestAnAnswerThatSettlesNothing(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		meta, err := r.Do(r.T.Context(), trading.OpOrder, trading.Raw{Body: []byte(rawBuy)},
			trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Error(r.T, err)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		assert.False(r.T, meta.Settled)
		assert.Equal(r.T, 500, meta.Status)
		assert.NotEmpty(r.T, meta.Intent)
	})
}
