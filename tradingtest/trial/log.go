package trial

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// maxLine bounds a line of a log: the simulator takes bodies of a megabyte.
const maxLine = 8 << 20

// ReadLog reads what [tradingsim.WithLog] has written.
func ReadLog(r io.Reader) (events []tradingsim.Event, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var e tradingsim.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d of the log: %w", n, err)
		}
		what, has := "change", e.Change != nil
		switch e.Kind {
		case tradingsim.EventRequest, tradingsim.EventAnswer, tradingsim.EventRefused:
			what, has = "request", e.Request != nil
		case tradingsim.EventExecution:
			what, has = "execution", e.Execution != nil
		}
		if !has {
			return nil, fmt.Errorf("line %d of the log has no %s", n, what)
		}
		events = append(events, e)
	}
	return events, lines.Err()
}

// number is a number of a body; one that cannot be computed with is absent.
type number struct {
	decimal.Decimal
	set, null bool
}

func (n *number) UnmarshalJSON(text []byte) error {
	if d, err := decimal.NewFromString(strings.Trim(string(text), `"`)); err == nil && plain(d) {
		n.Decimal, n.set = d, true
	}
	n.null = string(text) == "null"
	return nil
}

// prices are the members of a body that a bot computes from a mark.
var prices = []string{"takeProfitPrice", "stopLossPrice", "limitPrice", "expectedPrice", "triggerPrice", "startPrice", "endPrice"}

// request is a request of the bot, and what it meant.
type request struct {
	tradingsim.Request
	body struct {
		AccountID, Symbol, Side string
		ReduceOnly              bool
	}
	numbers  map[string]number // of the body
	account  string            // "" for the sandbox's
	key      string
	write    bool
	entry    bool // it can add exposure
	executed bool
}

func newRequest(r tradingsim.Request) *request {
	q := &request{Request: r, key: r.Header.Get("Idempotency-Key"), write: strings.HasPrefix(r.Operation, "POST ")}
	if !q.write {
		if at, err := url.Parse(r.Path); err == nil {
			q.account = at.Query().Get("accountId")
			if id, ok := strings.CutPrefix(at.Path, "/accounts/"); ok {
				q.account, _, _ = strings.Cut(id, "/")
			}
		}
		return q
	}
	_ = json.Unmarshal(r.Body, &q.body) // what cannot be read is absent
	_ = json.Unmarshal(r.Body, &q.numbers)
	q.account = q.body.AccountID
	if strings.HasPrefix(r.Operation, "POST /sandbox/") {
		q.account, q.key = "", "" // it ignores both
	}
	q.entry = isEntry(r.Operation) && !q.body.ReduceOnly
	return q
}

// isEntry reports whether an operation can add exposure, unless its body says reduceOnly.
func isEntry(operation string) bool {
	return operation == "POST /orders" || operation == "POST /sandbox/orders" ||
		strings.HasPrefix(operation, "POST /orders/") && operation != "POST /orders/cancel"
}

// isLevels reports whether an operation sets stops.
func isLevels(operation string) bool {
	return operation == "POST /positions/tpsl" || operation == "POST /sandbox/positions/tpsl"
}

// positions are the reads of all positions, and shown all that show what became of an entry.
var (
	positions = []string{"GET /positions", "GET /sandbox/positions"}
	shown     = append([]string{"GET /accounts/{accountId}", "GET /accounts/{accountId}/orders", "GET /trades", "GET /sandbox/account", "GET /sandbox/trades"}, positions...)
)

// shows reports whether it is one of some reads, and was answered.
func (r *request) shows(reads []string) bool {
	return r.known() && r.Status == 200 && slices.Contains(reads, r.Operation)
}

// Codes of the service: 5xx that say that nothing was placed, and others that do not say what was.
var (
	nothingPlaced = []string{"idempotency_unavailable", "no_price", "PRICE_UNAVAILABLE", "equity_unavailable"}
	notSaid       = []string{"idempotency_in_flight", "idempotency_result_unknown"}
)

// known reports whether the answer arrived, and says what became of the request.
func (r *request) known() bool {
	foreign := strings.Contains(r.Fault, "gateway_") || strings.Contains(r.Fault, "raw")
	if !r.Delivered || foreign || slices.Contains(notSaid, r.Code) {
		return false
	}
	if r.Status >= 500 {
		return slices.Contains(nothingPlaced, r.Code)
	}
	return r.Code != "" || r.Status == 200
}

// text is the request for a person.
func (r *request) text() string {
	t := fmt.Sprintf("#%d %s", r.ID, r.Operation)
	if r.body.Side != "" {
		t += fmt.Sprintf(" %.5s %s %.20s", r.body.Side, r.numbers["size"], r.body.Symbol)
	}
	if limit := r.numbers["limitPrice"]; limit.set {
		t += " at " + limit.String()
	}
	if r.write && r.account != "" {
		key := cmp.Or(r.key, "-")
		if len(key) > 12 {
			key = "…" + key[len(key)-10:]
		}
		t += " key " + key
	}
	return t
}

// point is a moment of a log: an arrival, an answer, an execution or a change.
type point struct {
	at   time.Time
	kind tradingsim.EventKind
	r    *request // of an arrival or an answer; of an execution, the one that did it, if any
	e    *tradingsim.Execution
	c    *tradingsim.Change
}

// timeline puts a log into the order of what happened: an answer counts from when it was given,
// however much later its line was written.
func timeline(events []tradingsim.Event) (points []point, byID map[int64]*request) {
	byID = map[int64]*request{}
	for _, e := range events {
		p := point{kind: e.Kind, e: e.Execution, c: e.Change}
		if e.Request != nil {
			p.r = byID[e.Request.ID]
		}
		switch {
		case e.Kind == tradingsim.EventRequest:
			p.r, p.at = newRequest(*e.Request), e.Request.At
			byID[p.r.ID] = p.r
		case e.Kind == tradingsim.EventAnswer && p.r != nil:
			p.r.Request, p.at = *e.Request, e.Request.AnsweredAt
		case e.Kind == tradingsim.EventExecution:
			p.r, p.at = byID[e.Execution.Request], e.Execution.At
			if p.r != nil && !e.Execution.Copy {
				p.r.executed = true
			}
		case e.Change != nil:
			p.at = e.Change.At
		}
		if !p.at.IsZero() {
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return a.at.Compare(b.at) })
	return points, byID
}
