package resolve

import (
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// calibrate finds out how the service keeps its keys, before anything that a fence says is
// believed. Under a fresh key it cancels an order and then a run that cannot exist. One
// namespace refuses the second, another request under the key, with 422: so the first is
// stored, as a fence has to be.
//
// Keys by route answer both as if the key were new. But so does a service that stores no
// refusal, or looks for the order before it looks at the key, or keeps no keys for runs, or
// takes other bytes for another key. What keeps keys by route repeats both answers as stored
// ones, and refuses other bytes on each route; where it does not, no fence proves anything.
//
// What the routes that trade do with a key no harmless question shows.
//
// Where the limits have no place for a request of it, it goes on when they have: before the next
// fence, which would take that place.
//
// The error is that of a request that could not be made.
func (d *Driver) calibrate(account pending.AccountID) error {
	if d.calibrating == nil {
		d.calibrating = calibrationOf(account)
	}
	for {
		found, over := found(d.calibrated)
		if over {
			d.namespace, d.calibrating, d.calibrated = found, nil, nil
			return nil
		}
		said, err := d.answers(d.calibrating[len(d.calibrated)])
		if err != nil {
			return err
		}
		d.calibrated = append(d.calibrated, said)
	}
}

// found is what the answers show, and whether that is all that they can.
func found(said []reply) (n namespace, over bool) {
	for i, want := range [...]reply{asNew, asNew, asStored, asStored, reusedKey, reusedKey} {
		switch {
		case i == len(said):
			return namespaceUnknown, false
		case said[i] == want:
		case i == 1 && said[i] == reusedKey:
			return namespaceOne, true
		case i == 0, said[i] == otherwise:
			return namespaceUnknown, true
		default:
			return namespaceUnclear, true
		}
	}
	return namespaceByRoute, true
}

// reply is how a service answers a request of the calibration.
type reply uint8

const (
	otherwise reply = iota // which shows nothing
	asNew
	asStored // or as another one that is
	reusedKey
)

// answers sends a request of the calibration.
func (d *Driver) answers(r Request) (reply, error) {
	place, err := d.prepare(r)
	if err != nil {
		return otherwise, err
	}
	defer place.Drop()
	h := d.sendOnce(place)
	missing := h.Code == codeOrderNotFound || h.Code == codeRunNotFound
	switch {
	case h.Class != ledger.Refusal:
		return otherwise, nil
	case h.Code == codeKeyReused:
		return reusedKey, nil
	case missing && h.Replayed:
		return asStored, nil
	case missing:
		return asNew, nil
	default:
		return otherwise, nil
	}
}
