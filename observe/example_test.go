package observe_test

import (
	"fmt"

	"github.com/tradingapi/trading-go/observe"
	"github.com/tradingapi/trading-go/profile"
)

// A refusal that came again with its mark is a stored one.
func ExampleJudge() {
	found, _, err := observe.Parse([]byte(
		`{"at":"2026-11-23T12:00:00Z","event":"attempt","tookNs":9000000,"operation":"POST /orders/cancel","environment":"live","attempt":1,"key":"k1","status":404,"code":"order_not_found","request":{"accountId":"acc_1","orderId":"none"},"response":{"error":"order_not_found"}}
{"at":"2026-11-23T12:00:01Z","event":"attempt","tookNs":8000000,"operation":"POST /orders/cancel","environment":"live","attempt":2,"key":"k1","status":404,"code":"order_not_found","replayed":true,"request":{"accountId":"acc_1","orderId":"none"},"response":{"error":"order_not_found"}}`))
	if err != nil {
		panic(err)
	}
	p := observe.Judge(&observe.Evidence{Exchanges: found}, observe.About{BaseURL: "https://api.example.com/v1"})
	for _, number := range []string{"A1", "49"} {
		r, _ := p.Result(number, profile.Live)
		fmt.Println(number, r.Verdict, r.CountFirst, "of", r.N)
	}
	// Output:
	// A1 first 1 of 1
	// 49 unseen 0 of 0
}
