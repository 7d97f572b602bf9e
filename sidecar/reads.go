package sidecar

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// readPatience is how long a read may take, waits for the rate limit included.
const readPatience = 30 * time.Second

// shows is what the reads of an account show of what a write did.
var shows = map[trading.Operation]hearing.Reads{
	trading.OpPositions:        hearing.Positions,
	trading.OpSandboxPositions: hearing.Positions,
	trading.OpOpenOrders:       hearing.Orders,
}

// serveRead passes a read on.
func (s *Server) serveRead(w http.ResponseWriter, r *http.Request, q *request) {
	p := peer(present{}) // what has no key changes nothing by what it hears
	if !q.keyless {
		p = peerOf(r)
	}
	began := time.Now()
	if no := s.mayBegin(q, p); no != nil {
		_ = no.writeTo(w, "")
		return
	}
	this := s.unheard.reads(q, began)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readPatience) // its bot may have closed its half alone
	defer cancel()
	meta, err := s.client.Do(counted(ctx), q.op, trading.Raw{
		Account: trading.AccountID(q.account), Symbol: q.symbol, Environment: q.keyEnv(),
	})
	answer, whole := s.replyTo(q, meta, err)
	if whole && q.op == trading.OpAccounts {
		answer = onlyAccounts(answer, q.bot)
	}
	if this != nil {
		var a answered
		if this.what != 0 && err == nil && answer.status == http.StatusOK {
			a = p.writing()
		}
		s.unheard.readBy(this, a)
	}
	_ = answer.writeTo(w, "") // one that fails is never heard
}

// onlyAccounts leaves out of the list of accounts those that the bot's key does not see.
func onlyAccounts(r reply, bot localkey.Key) reply {
	if r.status != http.StatusOK {
		return r
	}
	var members map[string]json.RawMessage
	var rows []json.RawMessage
	if json.Unmarshal(r.body, &members) != nil || json.Unmarshal(members["accounts"], &rows) != nil {
		return own(http.StatusServiceUnavailable, trading.CodeUnavailable, "The list of accounts cannot be read.", "")
	}
	seen := slices.DeleteFunc(slices.Clone(rows), func(row json.RawMessage) bool {
		var account struct {
			ID string `json:"id"`
		}
		return json.Unmarshal(row, &account) != nil || !bot.Sees(account.ID)
	})
	if len(seen) == len(rows) {
		return r
	}
	members["accounts"], _ = json.Marshal(append([]json.RawMessage{}, seen...)) // they were JSON
	r.body, _ = json.Marshal(members)
	r.header.Set(headerOwn, "1")
	return r
}
