package trading

import (
	"net/url"
	"time"

	"github.com/tradingapi/trading-go/internal/spec"
)

// request is what is fixed before the first send: what every attempt sends, and by what it is judged.
type request struct {
	endpoint *spec.Endpoint
	env      Environment
	opts     *callOptions // not written to once a send may have begun
	url      *url.URL
	body     []byte // encoded once; every attempt sends these bytes
	account  AccountID
	symbol   string
	entry    bool // a write that can add exposure
	all      bool // a close of all of a position
	alone    bool // on a connection of its own
	began    time.Time
}
