package control

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func account(t *testing.T, sim *tradingsim.Sim) tradingsim.AccountState {
	t.Helper()
	for _, a := range sim.State().Accounts {
		if a.ID == "acc_1" {
			return a
		}
	}
	t.Fatal("there is no acc_1")
	return tradingsim.AccountState{}
}

// Each change changes what it says.
func TestChanges(t *testing.T) {
	r := newRig(t)
	r.done("PUT", "/marks/BTC", `{"price":"65000.5"}`)
	require.Equal(t, "65000.5", r.sim.State().Markets[0].Price.Decimal.String())
	r.done("PUT", "/marks/BTC", `{"price":null}`)
	require.False(t, r.sim.State().Markets[0].Price.Valid)

	r.done("PUT", "/markets/GOLD", `{"label":"<b>Gold</b>","category":"commodities","price":"2400","maxLeverage":"3",
		"notionalCap":"1000","disabled":true,"paused":true,"fillError":"STALE_PRICE","book":{"levels":[{"bps":"1","size":"2"}],"unreadable":true}}`)
	gold := r.sim.State().Markets[2]
	require.Equal(t, "2400", gold.Price.Decimal.String())
	gold.Price = tradingsim.MarketState{}.Price
	require.Equal(t, tradingsim.MarketState{
		Symbol: "GOLD", Label: "<b>Gold</b>", Category: "commodities", Disabled: true, Paused: true, FillError: "STALE_PRICE",
	}, gold)

	r.done("PUT", "/health", `{"status":"unavailable","feed":"unknown"}`)
	require.Equal(t, "unavailable unknown", r.sim.State().Health+" "+r.sim.State().Feed)
	r.done("PUT", "/accounts/acc_1", `{"status":"PASSED"}`)
	require.Equal(t, "PASSED", account(t, r.sim).Status)

	r.done("POST", "/clock/advance", `{"by":"15m"}`)
	require.Equal(t, began.Add(15*time.Minute), r.sim.Now())
	r.done("PUT", "/clock", `{"at":"2026-03-02T12:00:00+01:00"}`)
	require.Equal(t, began.Add(time.Hour), r.sim.Now().UTC())
	r.done("PUT", "/clock", `{"at":"2026-03-02T11:00:00Z"}`)
	require.Equal(t, began.Add(time.Hour), r.sim.Now().UTC(), "to stay is allowed")

	r.done("PUT", "/marks/BTC", `{"price":"64000"}`)
	r.done("POST", "/trades", `{"account":"acc_1","symbol":"BTC","side":"short","size":"0.05"}`)
	require.Equal(t, "-0.05", r.sim.Position("acc_1", "BTC").String())
	before := account(t, r.sim).Balance
	r.done("POST", "/funding", `{"account":"acc_1","symbol":"BTC","amount":"-1.25"}`)
	require.Equal(t, "-1.25", account(t, r.sim).Balance.Sub(before).String())

	r.done("POST", "/keys/revoke", `{"id":"key_2"}`)
	keys := r.sim.State().Keys
	require.False(t, keys[0].Revoked)
	require.True(t, keys[1].Revoked)

	r.done("POST", "/faults", `{"operation":"POST /orders","faults":[{"kind":"drop_response"},{"kind":"pass"},{"kind":"late_copy","for":"5s"}]}`)
	require.Equal(t, []tradingsim.PlannedFault{
		{Operation: "POST /orders", Fault: "drop_response"}, {Operation: "POST /orders"}, {Operation: "POST /orders", Fault: "late_copy 5s"},
	}, r.sim.PlannedFaults())
	r.done("DELETE", "/faults", "")
	require.Empty(t, r.sim.PlannedFaults())
}

// Each kind of fault is planned by what GET faults shows of it, and by nothing less.
func TestEachKindOfFault(t *testing.T) {
	r := newRig(t)
	listed := into[struct{ Kinds []kind }](t, r.send("GET", "/faults", "").Body.Bytes()).Kinds
	require.Len(t, listed, 22)
	for _, k := range listed {
		t.Run(k.Kind, func(t *testing.T) {
			plan := func(b faultBody) int {
				return r.send("POST", "/faults", text(t, map[string]any{"operation": "*", "faults": []faultBody{b}})).Code
			}
			assert.Equal(t, 204, plan(k.Example))
			planned := r.sim.PlannedFaults()
			if name := planned[0].Fault; k.Kind == "pass" {
				assert.Empty(t, name)
			} else {
				assert.True(t, strings.HasPrefix(name, k.Kind), name)
			}
			r.sim.ClearFaults()

			for name, change := range map[string]func(*faultBody){
				"for":    func(b *faultBody) { b.For = toggled(b.For, "5s") },
				"status": func(b *faultBody) { b.Status = map[bool]int{true: 200}[b.Status == 0] },
				"code":   func(b *faultBody) { b.Code = toggled(b.Code, "x") },
				"faults": func(b *faultBody) { b.Faults = []faultBody{{Kind: "pass"}} },
			} {
				b := k.Example
				change(&b)
				assert.Equal(t, 400, plan(b), "without %s, or with one that is not taken", name)
			}
			b := k.Example
			b.Header = map[string]string{"X-Odd": "1"}
			assert.Equal(t, map[bool]int{true: 204, false: 400}[strings.HasPrefix(k.Kind, "raw")], plan(b), "header")
			r.sim.ClearFaults()
		})
	}
}

func toggled(text, other string) string {
	if text == "" {
		return other
	}
	return ""
}

// What cannot be understood is refused with the reason, and changes nothing.
func TestBadInput(t *testing.T) {
	long := `{"price":"` + strings.Repeat("1", maxBody) + `"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		reason             string
	}{
		{"PUT", "/marks/BTC", ``, 415, "application/json"},
		{"PUT", "/marks/BTC", ` `, 400, "must be a JSON object"},
		{"PUT", "/marks/BTC", `[]`, 400, "must be a JSON object"},
		{"PUT", "/marks/BTC", `{`, 400, "unexpected EOF"},
		{"PUT", "/marks/BTC", "{\"price\":\"\xff\"}", 400, "not UTF-8"},
		{"PUT", "/marks/BTC", `{"price":"1"} {}`, 400, "something follows"},
		{"PUT", "/marks/BTC", `{"price":"1","x":1}`, 400, `unknown field "x"`},
		{"PUT", "/marks/BTC", long, 413, "65536 bytes"},
		{"PUT", "/marks/BTC", `{"price":"1","price":"2"}`, 400, `"price" comes twice`},
		{"PUT", "/marks/BTC", `{"price":"1","Price":"2"}`, 400, `"Price" comes twice`},
		{"PUT", "/markets/X", `{"book":{"levels":[{"bps":"1","size":"1"},{"size":"1","bps":"2","size":"3"}]}}`, 400, `"size" comes twice`},
		{"PUT", "/marks/BTC", `{}`, 400, "price is missing"},
		{"PUT", "/marks/BTC", `{"price":64000}`, 400, "number as text"},
		{"PUT", "/marks/BTC", `{"price":"0"}`, 400, "must be greater than 0"},
		{"PUT", "/marks/BTC", `{"price":"0.000"}`, 400, "must be greater than 0"},
		{"PUT", "/marks/BTC", `{"price":"-1"}`, 400, "must be greater than 0"},
		{"PUT", "/marks/BTC", `{"price":"1e999999999"}`, 400, "plain number"},
		{"PUT", "/marks/BTC", `{"price":"NaN"}`, 400, "plain number"},
		{"PUT", "/marks/BTC", `{"price":""}`, 400, "plain number"},
		{"PUT", "/marks/DOGE", `{"price":"1"}`, 404, `no market "DOGE"`},

		{"PUT", "/markets/%3Cb%3E", `{}`, 400, "a symbol has"},
		{"PUT", "/markets/" + strings.Repeat("X", 33), `{}`, 400, "a symbol has"},
		{"PUT", "/markets/X", `{"label":"` + strings.Repeat("x", 65) + `"}`, 400, "at most 64 bytes"},
		{"PUT", "/markets/X", `{"category":"tulips"}`, 400, "category must be one of"},
		{"PUT", "/markets/X", `{"price":"0"}`, 400, "price must be greater than 0"},
		{"PUT", "/markets/X", `{"maxLeverage":"0"}`, 400, "maxLeverage must be greater than 0"},
		{"PUT", "/markets/X", `{"notionalCap":"much"}`, 400, "notionalCap must be a plain number"},
		{"PUT", "/markets/X", `{"book":{"levels":[{"bps":"x","size":"1"}]}}`, 400, "book.levels.bps"},
		{"PUT", "/markets/X", `{"book":{"levels":[{"bps":"1","size":"0"}]}}`, 400, "book.levels.size"},
		{"PUT", "/markets/X", `{"book":{"levels":[` + strings.Repeat(`{"bps":"1","size":"1"},`, 100) + `{"bps":"1","size":"1"}]}}`, 400, "at most 100"},
		{"PUT", "/markets/X", `{"fillError":"because"}`, 400, "the contract has no code because"},

		{"PUT", "/health", `{"status":"fine","feed":"live"}`, 400, "status must be one of"},
		{"PUT", "/health", `{"status":"healthy"}`, 400, "feed must be one of"},
		{"PUT", "/accounts/acc_9", `{"status":"PASSED"}`, 404, `no live account "acc_9"`},
		{"PUT", "/accounts/acc_1", `{"status":"rich"}`, 400, "status must be one of"},
		{"PUT", "/clock", `{"at":"2026-03-02T09:59:59Z"}`, 400, "at must be from"},
		{"PUT", "/clock", `{"at":"2036-03-02T09:59:59Z"}`, 400, "at must be from"},
		{"PUT", "/clock", `{}`, 400, "at must be from"},
		{"PUT", "/clock", `{"at":"noon"}`, 400, "cannot be read"},
		{"POST", "/clock/advance", `{"by":"soon"}`, 400, "by must be a duration"},
		{"POST", "/clock/advance", `{"by":"-1s"}`, 400, "greater than 0"},
		{"POST", "/clock/advance", `{"by":"745h"}`, 400, "at most 744h0m0s"},

		{"POST", "/trades", `{"account":"","symbol":"BTC","side":"long","size":"1"}`, 404, "no live account"},
		{"POST", "/trades", `{"account":"acc_1","symbol":"X","side":"long","size":"1"}`, 404, "no market"},
		{"POST", "/trades", `{"account":"acc_1","symbol":"BTC","side":"up","size":"1"}`, 400, "side must be one of"},
		{"POST", "/trades", `{"account":"acc_1","symbol":"BTC","side":"long","size":"-1"}`, 400, "size must be greater than 0"},
		{"POST", "/trades", `{"account":"acc_1","symbol":"NEW","side":"long","size":"1"}`, 409, "NEW has no price"},
		{"POST", "/funding", `{"account":"acc_9","symbol":"BTC","amount":"1"}`, 404, "no live account"},
		{"POST", "/funding", `{"account":"acc_1","symbol":"X","amount":"1"}`, 404, "no market"},
		{"POST", "/funding", `{"account":"acc_1","symbol":"BTC","amount":"1e9"}`, 400, "plain number"},
		{"POST", "/keys/revoke", `{"id":"key_9"}`, 404, `no key "key_9"`},

		{"POST", "/faults", `{"operation":"POST /order","faults":[{"kind":"crash"}]}`, 400, "operation must be *"},
		{"POST", "/faults", `{"operation":"*"}`, 400, "1 to 100 entries"},
		{"POST", "/faults", `{"operation":"*","faults":[` + strings.Repeat(`{"kind":"pass"},`, 100) + `{"kind":"pass"}]}`, 400, "1 to 100 entries"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"flood"}]}`, 400, `no kind of fault "flood"`},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"delay","for":"25h"}]}`, 400, "at most 24h0m0s"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"fail","status":199,"code":"x"}]}`, 400, "from 200 to 599"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"fail","status":600,"code":"x"}]}`, 400, "from 200 to 599"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"fail","status":500,"code":"a b"}]}`, 400, "visible characters"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"together","faults":[{"kind":"crash"}]}]}`, 400, "2 to 100 faults"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"together","for":"1s","faults":[{"kind":"crash"},{"kind":"crash"}]}]}`, 400, "nothing else"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"together","faults":[{"kind":"crash"},{"kind":"together"}]}]}`, 400, "one list"},
		{"POST", "/faults", `{"operation":"*","faults":[{"kind":"together","faults":[{"kind":"crash"},{"kind":"nothing"}]}]}`, 400, "no kind of fault"},

		{"GET", "/ledger?after=x", ``, 400, "after must be a whole number"},
		{"GET", "/ledger?after=", ``, 400, "after must be a whole number"},
		{"GET", "/requests?limit=0", ``, 400, "limit must be a whole number from 1 to 1000"},
		{"GET", "/requests?limit=1001", ``, 400, "limit must be a whole number"},
		{"GET", "/nothing", ``, 404, "not found"},
		{"POST", "/state", `{}`, 405, "Not Allowed"},
	} {
		t.Run(c.method+" "+c.path[:min(len(c.path), 40)]+" "+c.body[:min(len(c.body), 80)], func(t *testing.T) {
			r := newRig(t)
			before := r.send("GET", "/state", "").Body.String()
			w := r.send(c.method, c.path, c.body)
			require.Equal(t, c.status, w.Code, w.Body.String())
			require.Contains(t, w.Body.String()+messageOf(w.Body.Bytes()), c.reason)
			require.Equal(t, before, r.send("GET", "/state", "").Body.String())
			require.Empty(t, r.sim.PlannedFaults())
			require.Empty(t, r.sim.Ledger())
		})
	}
}

// Only a manual clock is moved.
func TestTheClockThatRunsByItself(t *testing.T) {
	r := newRig(t, tradingsim.WithClock(func() time.Time { return began }))
	for method, path := range map[string]string{"POST": "/clock/advance", "PUT": "/clock"} {
		w := r.send(method, path, map[string]string{"POST": `{"by":"1m"}`, "PUT": `{"at":"2026-03-02T10:01:00Z"}`}[method])
		require.Equal(t, 409, w.Code)
		require.Contains(t, w.Body.String(), "no_manual_clock")
	}
	require.Equal(t, began, r.sim.Now())
}

// What is planned is bounded.
func TestTooManyFaults(t *testing.T) {
	r := newRig(t)
	hundred := `{"operation":"*","faults":[` + strings.Repeat(`{"kind":"pass"},`, 99) + `{"kind":"pass"}]}`
	for range 10 {
		r.done("POST", "/faults", hundred)
	}
	require.Equal(t, 409, r.send("POST", "/faults", `{"operation":"*","faults":[{"kind":"crash"}]}`).Code)
	require.Len(t, r.sim.PlannedFaults(), 1000)
}

// The ledger and the log are read in parts.
func TestReadsInParts(t *testing.T) {
	r := newRig(t)
	for range 5 {
		r.done("POST", "/trades", `{"account":"acc_1","symbol":"BTC","side":"long","size":"0.01"}`)
	}
	for query, want := range map[string]struct {
		ids  []int64
		more bool
	}{
		"":                 {[]int64{1, 2, 3, 4, 5}, false},
		"?limit=2":         {[]int64{4, 5}, false},
		"?after=0&limit=2": {[]int64{1, 2}, true},
		"?after=3&limit=2": {[]int64{4, 5}, false},
		"?after=5":         {[]int64{}, false},
		"?after=99":        {[]int64{}, false},
	} {
		got := into[struct {
			Executions []struct{ ID int64 }
			More       bool
		}](t, r.send("GET", "/ledger"+query, "").Body.Bytes())
		ids := []int64{}
		for _, e := range got.Executions {
			ids = append(ids, e.ID)
		}
		assert.Equal(t, want.ids, ids, query)
		assert.Equal(t, want.more, got.More, query)
	}
	require.NoError(t, r.order(buyBTC))
	log := into[struct{ Requests []struct{ Delivered bool } }](t, r.send("GET", "/requests", "").Body.Bytes())
	require.True(t, log.Requests[0].Delivered)
}

// No GET changes anything.
func TestReadsChangeNothing(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.order(buyBTC))
	before := text(t, r.sim.State())
	for _, route := range routes {
		if route.method == "GET" && route.path != "/events" {
			require.Equal(t, 200, r.send("GET", route.path, "").Code, route.path)
		}
	}
	require.Equal(t, before, text(t, r.sim.State()))
	require.Len(t, r.sim.Requests(), 1)
	require.Len(t, r.sim.Ledger(), 1)
}

// The charts begin with what was before, and a clock that stands still adds nothing.
func TestHistory(t *testing.T) {
	r := newRig(t)
	r.sample()
	r.sample()
	r.sim.Advance(time.Second)
	r.sim.SetMark("BTC", "65000")
	r.sample()
	r.feed.show(Write{ID: "1", Outcome: "sending"})
	r.feed.show(Write{ID: "1", Outcome: "applied"})
	for range keptWrites {
		r.feed.show(Write{ID: "another", Outcome: "applied"})
	}
	got := into[struct {
		Samples []struct {
			Marks, Equity map[string]*string
		}
		Writes []Write
	}](t, r.send("GET", "/history", "").Body.Bytes())
	require.Len(t, got.Samples, 2)
	require.Equal(t, "64000", *got.Samples[0].Marks["BTC"])
	require.Equal(t, "65000", *got.Samples[1].Marks["BTC"])
	require.Nil(t, got.Samples[1].Marks["NEW"])
	require.Equal(t, "100000", *got.Samples[1].Equity["acc_1"])
	require.Len(t, got.Writes, 2)
	require.Equal(t, "applied", got.Writes[0].Outcome)
}

// Whatever a body is, it is done or refused with a reason: nothing panics, and nothing is
// an error of the server. A clock that is moved far is the one thing that takes long.
func FuzzBodies(f *testing.F) {
	var targets []route
	for _, r := range routes {
		if r.method != http.MethodGet && r.path != "/session" {
			targets = append(targets, r)
		}
	}
	d := into[described](f, description)
	for i, r := range targets {
		o := d.Paths[r.path][map[string]string{"PUT": "put", "POST": "post", "DELETE": "delete"}[r.method]]
		if o.RequestBody == nil {
			continue
		}
		for _, e := range o.RequestBody.Content["application/json"].Examples {
			f.Add(uint8(i), "BTC", []byte(e.Value))
			f.Add(uint8(i), "acc_1", []byte(e.Value))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, name string, body []byte) {
		target := targets[int(which)%len(targets)]
		if target.path == "/clock" || target.path == "/clock/advance" {
			return // TestBadInput
		}
		r := newRig(t)
		path := target.path
		switch path {
		case "/marks/{symbol}":
			path = "/marks/" + url.PathEscape(name)
		case "/markets/{symbol}":
			path = "/markets/" + url.PathEscape(name)
		case "/accounts/{id}":
			path = "/accounts/" + url.PathEscape(name)
		}
		w := r.send(target.method, path, string(body))
		require.Less(t, w.Code, 500, w.Body.String())
		if w.Code >= 400 && w.Header().Get("Content-Type") == "application/json" {
			require.NotEmpty(t, messageOf(w.Body.Bytes()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // a fault may hold it for ever
		defer cancel()
		_ = r.orderWithin(ctx, buyBTC)
		r.sim.State()
	})
}
