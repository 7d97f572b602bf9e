package resolve

import "github.com/tradingapi/trading-go/internal/ledger"

// calibration is how far it is found out how the service keeps its keys. Where the limits have
// no place for a request of it, it goes on when they have: before the next fence, which would
// take that place.
type calibration struct {
	order, run Request // under one fresh key; none of one that has not begun
	said       []reply // by turns
}

func (c *calibration) begun() bool { return c.order.Key != "" }

// calibrate finds out how the service keeps its keys, before anything that a fence says is
// believed. Under a fresh key it cancels an order and then a run that cannot exist. One
// namespace refuses the second, another request under the key, with 422: so the first is
// stored, as a fence has to be.
//
// Keys by route answer both as if the key were new. But so does a service that stores no
// refusal, or looks for the order before it looks at the key, or keeps no keys for runs. What
// keeps keys by route repeats both answers as stored ones; where one comes anew, no fence
// proves anything.
//
// The error is that of a request that could not be made.
func (d *Driver) calibrate(account string) error {
	c := &d.calibration
	if !c.begun() {
		c.run, c.order = calibrationOf(account)
	}
	for {
		found, over := found(c.said)
		if over {
			d.namespace, d.calibration = found, calibration{}
			return nil
		}
		r, code := c.order, codeOrderNotFound
		if len(c.said)%2 == 1 {
			r, code = c.run, codeRunNotFound
		}
		said, err := d.answers(r, code)
		if err != nil {
			return err
		}
		c.said = append(c.said, said)
	}
}

// found is what the answers show, and whether that is all that they can.
func found(said []reply) (n namespace, over bool) {
	switch count := len(said); {
	case count == 0:
		return namespaceUnknown, false
	case said[0] != asNew:
		return namespaceUnknown, true
	case count == 1:
		return namespaceUnknown, false
	case said[1] == reusedKey:
		return namespaceOne, true
	case said[1] != asNew:
		return namespaceUnknown, true
	case count < 4:
		return namespaceUnknown, false
	case said[2] == asStored && said[3] == asStored:
		return namespaceByRoute, true
	case said[2] == asNew || said[3] == asNew:
		return namespaceUnclear, true
	default:
		return namespaceUnknown, true
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
func (d *Driver) answers(r Request, code string) (reply, error) {
	place, err := d.prepare(r)
	if err != nil {
		return otherwise, err
	}
	defer place.Drop()
	switch h := d.sendOnce(place); {
	case h.Class != ledger.Refusal:
		return otherwise, nil
	case h.Code == codeKeyReused:
		return reusedKey, nil
	case h.Code == code && h.Replayed:
		return asStored, nil
	case h.Code == code:
		return asNew, nil
	default:
		return otherwise, nil
	}
}
