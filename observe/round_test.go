package observe

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/profile"
)

// votes counts what one round says to one experiment.
func votes(number, script string, steps ...*Exchange) [3]int {
	t := &Tally{}
	for i := range steps {
		if steps[i] != nil && steps[i].Operation == "" {
			steps[i].Operation = "POST /orders/cancel"
		}
	}
	asked[number].vote(&Round{Script: script, Steps: steps, own: true}, t)
	return [3]int{t.First, t.Other, t.Neither}
}

func refused(status int, code string) *Exchange {
	return &Exchange{Status: status, Code: code, Response: []byte(`{"error":"` + code + `"}`)}
}

func marked(x *Exchange) *Exchange {
	again := *x
	again.Replayed = true
	return &again
}

func redirect(status int, to string) *Exchange {
	return &Exchange{Status: status, Header: http.Header{"Location": {to}}}
}

// Each vote, apart from the sending.
func TestVotes(t *testing.T) {
	nothing, reused := refused(404, "order_not_found"), refused(422, codeReused)
	nobody, locked := refused(404, "account_not_found"), refused(403, "account_locked")
	fields, done := refused(400, "missing_fields"), &Exchange{Status: 200, Response: []byte(`{"success":true}`)}
	denied := &Exchange{Status: 200, Response: []byte(`{"error":"order_not_found"}`)}
	flight, page := refused(409, codeInFlight), &Exchange{Status: 404, Response: []byte("<html>")}
	first, other, neither, none := [3]int{1, 0, 0}, [3]int{0, 1, 0}, [3]int{0, 0, 1}, [3]int{}
	for _, c := range []struct {
		number string
		want   [3]int
		steps  []*Exchange
	}{
		{"A1", first, []*Exchange{nothing, marked(nothing), reused}},
		{"A1", first, []*Exchange{nobody, marked(nobody)}},
		{"A1", first, []*Exchange{locked, marked(locked)}},
		{"A1", other, []*Exchange{nothing, nothing, nothing}},
		{"A1", other, []*Exchange{nobody, nobody, nobody}},
		{"A1", neither, []*Exchange{nothing, nothing, reused}},
		{"A1", neither, []*Exchange{marked(nothing), marked(nothing)}},
		{"A1", neither, []*Exchange{done, marked(done)}},
		{"A1", neither, []*Exchange{reused, reused}},
		{"A1", neither, []*Exchange{nothing, marked(locked)}},
		{"A1", neither, []*Exchange{nothing, flight}},
		{"A1", neither, []*Exchange{nothing, reused}},
		{"A1", none, []*Exchange{nothing, page}},
		{"A1", none, []*Exchange{nothing}},
		{"A1", none, []*Exchange{page, nothing}},
		{"A1", neither, []*Exchange{nothing, locked}},
		{"A1", neither, []*Exchange{nobody, locked}},
		{"A1", none, []*Exchange{nothing, refused(403, codeLimited)}},
		{"A1", none, []*Exchange{nothing, denied}},
		{"A2", neither, []*Exchange{nothing, nil, locked}},
		{"49", neither, []*Exchange{nothing, nil, nil, nil, refused(400, "bad_request")}},
		{"14", neither, []*Exchange{refused(400, "bad_request")}},
		{"A6", neither, []*Exchange{nothing, refused(409, "request_in_progress")}},
		{"A4", neither, []*Exchange{refused(403, "market_closed")}},
		{"A2", first, []*Exchange{nothing, nil, reused}},
		{"A2", other, []*Exchange{nothing, nil, nothing}},
		{"A2", neither, []*Exchange{nothing, nil, marked(nothing)}},
		{"A2", neither, []*Exchange{nothing, nil, done}},
		{"A2", none, []*Exchange{marked(nothing), nil, reused}},
		{"9", first, []*Exchange{nothing, nil, nil, reused}},
		{"9", other, []*Exchange{nothing, nil, nil, marked(nothing)}},
		{"9", neither, []*Exchange{nothing, nil, nil, nothing}},
		{"51", first, []*Exchange{nothing, nil, nil, nil, nil, reused}},
		{"51", other, []*Exchange{nothing, nil, nil, nil, nil, fields}},
		{"51", neither, []*Exchange{nothing, nil, nil, nil, nil, marked(fields)}},
		{"49", first, []*Exchange{nothing, nil, nil, nil, reused}},
		{"49", other, []*Exchange{nothing, nil, nil, nil, refused(404, "run_not_found")}},
		{"49", neither, []*Exchange{nothing, nil, nil, nil, marked(nothing)}},
		{"49", neither, []*Exchange{nothing, nil, nil, nil, flight}},
		{"13", first, []*Exchange{fields, marked(fields)}},
		{"13", other, []*Exchange{fields, fields}},
		{"13", neither, []*Exchange{nothing, marked(nothing)}},
		{"13", neither, []*Exchange{marked(fields), marked(fields)}},
		{"14", first, []*Exchange{refused(400, "invalid_idempotency_key")}},
		{"14", other, []*Exchange{nothing}},
		{"14", neither, []*Exchange{marked(nothing)}},
		{"A15", first, []*Exchange{nothing, marked(nothing)}},
		{"A15", other, []*Exchange{nothing, nothing}},
		{"A15", neither, []*Exchange{nothing, reused}},
		{"A6", first, []*Exchange{flight, nothing, marked(nothing)}},
		{"A6", neither, []*Exchange{nothing, nothing, marked(nothing)}},
		{"A6", neither, []*Exchange{marked(nothing), flight}},
		{"A6", other, []*Exchange{nothing, {Status: 404, Code: "order_not_found", Response: []byte(`{"error":"order_not_found","requestId":2}`)}}},
		{"A6", none, []*Exchange{nothing, page}},
		{"A4", first, []*Exchange{marked(nothing)}},
		{"A4", other, []*Exchange{nothing}},
		{"A4", neither, []*Exchange{reused}},
		{"A5", first, []*Exchange{nothing}},
		{"A5", other, []*Exchange{marked(nothing)}},
		{"A8", first, []*Exchange{nothing}},
		{"A8", other, []*Exchange{refused(400, "bad_request")}},
		{"A8", none, []*Exchange{nobody}},
		{"8", first, []*Exchange{refused(404, "not_found")}},
		{"8", other, []*Exchange{refused(401, "missing_api_key")}},
		{"8", none, []*Exchange{page}},
		{"8", neither, []*Exchange{done}},
		{"47", first, []*Exchange{redirect(308, "/v1/health")}},
		{"47", other, []*Exchange{redirect(302, "https://api.example.com/v1/health")}},
		{"47", neither, []*Exchange{redirect(308, "https://login.example.com/?to=/v1/health")}},
		{"47", neither, []*Exchange{redirect(301, "/api/v1/health")}},
		{"47", neither, []*Exchange{done}},
		{"47", none, []*Exchange{page}},
	} {
		assert.Equal(t, c.want, votes(c.number, asked[c.number].scripts[0], c.steps...), "%s %+v", c.number, c.steps)
	}
}

// Whatever a service answers, a visit ends in a profile that is valid.
func FuzzVotes(f *testing.F) {
	f.Add(uint8(0), 404, `{"error":"order_not_found"}`, 404, `{"error":"order_not_found"}`, true)
	f.Add(uint8(9), 200, `{"position":{"side":"short","size":1e999999999}}`, 200, `{"trades":[{"fee":0.1}]}`, false)
	f.Add(uint8(12), 200, `{"closed":{"fee":-1}}`, 200, `[{"entryPrice":1,"size":2}]`, false)
	f.Fuzz(func(t *testing.T, script uint8, status int, body string, statusAgain int, bodyAgain string, replayed bool) {
		names := []string{scriptOrder, scriptRun, scriptBare, scriptTwice, scriptKeys, scriptBeside, scriptStays, scriptGone, scriptPath, scriptFlip, scriptFee, scriptNulls,
			scriptFee, scriptSlippage, scriptLeverage, scriptEmpty, scriptDust, scriptOwners, scriptRests, scriptParts, scriptTwins, scriptLegacy, scriptHeader}
		at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		step := func(n int) *Exchange {
			x := &Exchange{Operation: "POST /orders/cancel", Key: "k", Sent: at.Add(time.Duration(n) * time.Second), Received: at.Add(time.Duration(n)*time.Second + 1), Request: []byte(`{"size":1,"limitPrice":2}`),
				Status: status, Response: []byte(body), Header: http.Header{}, Line: n + 1}
			if n%2 == 1 {
				x.Status, x.Response, x.Replayed = statusAgain, []byte(bodyAgain), replayed
			}
			x.fill()
			return x
		}
		r := Round{Script: names[int(script)%len(names)], Steps: []*Exchange{step(0), step(1), step(2), step(3), step(4), step(5)}}
		e := &Evidence{Rounds: []Round{r, r, r, r, r, r, r, r}, asked: true}
		if p := Judge(e, About{Before: &profile.Profile{Version: 1}}); p.Validate() != nil {
			t.Fatal(p.Validate())
		}
	})
}
