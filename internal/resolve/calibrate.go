package resolve

import "github.com/tradingapi/trading-go/internal/ledger"

// calibrate finds out how the service keeps its keys, before anything that a fence says is
// believed. Under a fresh key it cancels an order and then a run that cannot exist. One
// namespace refuses the second, another request under the key, with 422: so the first is
// stored, as a fence has to be.
//
// Keys by route answer both as if the key were new. But so does a service that stores no
// refusal, or looks for the order before it looks at the key, or keeps no keys for runs. What
// keeps keys by route repeats both answers as stored ones; where one comes anew, no fence
// proves anything.
func (d *Driver) calibrate(account string) {
	run, order := calibrationOf(account)
	if d.answers(order, codeOrderNotFound) != asNew {
		return
	}
	switch d.answers(run, codeRunNotFound) {
	case reusedKey:
		d.namespace = namespaceOne
	case asNew:
		d.control(order, run)
	}
}

// control has both requests repeated.
func (d *Driver) control(order, run Request) {
	first, second := d.answers(order, codeOrderNotFound), d.answers(run, codeRunNotFound)
	switch {
	case first == asStored && second == asStored:
		d.namespace = namespaceByRoute
	case first == asNew || second == asNew:
		d.namespace = namespaceUnclear
	}
}

// reply is how a service answers a request of the calibration.
type reply uint8

const (
	otherwise reply = iota // which shows nothing
	asNew
	asStored
	reusedKey
)

// answers sends a request of the calibration, to which code is the answer.
func (d *Driver) answers(r Request, code string) reply {
	place, err := d.prepare(r)
	if err != nil {
		return otherwise
	}
	defer place.Drop()
	switch h := d.sendOnce(place); {
	case h.Class != ledger.Refusal:
		return otherwise
	case h.Code == codeKeyReused:
		return reusedKey
	case h.Code == code && h.Replayed:
		return asStored
	case h.Code == code:
		return asNew
	default:
		return otherwise
	}
}
