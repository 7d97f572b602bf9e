package trading

import (
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
)

// Check returns what is wrong with the order by itself: what PlaceOrder refuses before it
// sends anything, with the code that the service would have used. It is nil if nothing is.
// A resting limit is checked with Type [LimitOrder]; what Pro orders need besides, their
// own Check judges.
func (o Order) Check(env Environment) error {
	request := orderRequest("", &o)
	return local(env, check.Order(string(env), &request))
}

// checkRun is the Check of an order that the service carries out over time.
func checkRun(o *Order, how runRequest) error {
	request := orderRequest("", o)
	if f := check.Order(check.Live, &request); f != nil {
		return local(EnvLive, f)
	}
	_, f := how(api.ProOrderRequest(request))
	return local(EnvLive, f)
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Conditional) Check(o Order) error {
	o.Type = how.orderType()
	return checkRun(&o, how.request)
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Ladder) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how TWAP) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Chase) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how ChaseTWAP) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Swarm) Check(o Order) error { return checkRun(&o, how.request) }
