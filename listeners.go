package trading

import (
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/transport"
)

const (
	// mostListened bounds the attempts of calls that are over, of one client.
	mostListened = 64
	// listensFor is how long an attempt is listened to after its call is over.
	listensFor = 2 * time.Minute
)

// listeners are the attempts of calls that are over.
type listeners struct {
	mu   sync.Mutex
	left []*transport.RoundTrip // oldest first
}

// add bounds how long attempts are listened to, and how many.
func (l *listeners) add(attempts []*transport.RoundTrip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(a *transport.RoundTrip) bool { return !isUnderWay(a) })
	for _, a := range attempts {
		if isUnderWay(a) {
			a.AbortAfter(listensFor)
			l.left = append(l.left, a)
		}
	}
	for len(l.left) > mostListened {
		l.left[0].Abort()
		l.left = l.left[1:]
	}
}

func isUnderWay(a *transport.RoundTrip) bool {
	select {
	case <-a.Over():
		return false
	default:
		return true
	}
}
