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
	d, err := decimal.NewFromString(strings.Trim(string(text), `"`))
	if err == nil && plain(d) {
		n.Decimal, n.set = d, true
	}
	n.null = string(text) == "null"
	return nil
}

// body is what the judgements read of a write.
type body struct {
	AccountID, Symbol, Side string
	ReduceOnly              bool
	Size, LimitPrice        number

	TakeProfitPrice, StopLossPrice, ExpectedPrice, TriggerPrice, StartPrice, EndPrice number
}

// price is a number that a bot computes.
type price struct {
	name string
	number
}

func (b body) prices() []price {
	return []price{
		{"takeProfitPrice", b.TakeProfitPrice}, {"stopLossPrice", b.StopLossPrice}, {"limitPrice", b.LimitPrice},
		{"expectedPrice", b.ExpectedPrice}, {"triggerPrice", b.TriggerPrice}, {"startPrice", b.StartPrice}, {"endPrice", b.EndPrice},
	}
}

// request is a request of the bot, and what it meant.
type request struct {
	tradingsim.Request
	body
	account string
	key     string
	write   bool
	entry   bool // it can add exposure
	resting bool
}

func newRequest(r tradingsim.Request) *request {
	q := &request{Request: r, key: r.Header.Get("Idempotency-Key"), write: strings.HasPrefix(r.Operation, "POST ")}
	path, query, _ := strings.Cut(r.Path, "?")
	if !q.write {
		values, _ := url.ParseQuery(query)
		q.account = values.Get("accountId")
		if rest, ok := strings.CutPrefix(path, "/accounts/"); ok {
			id, _, _ := strings.Cut(rest, "/")
			q.account, _ = url.PathUnescape(id)
		}
		return q
	}
	_ = json.Unmarshal(r.Body, &q.body) // what cannot be read is absent
	q.account = q.AccountID
	if strings.HasPrefix(path, "/sandbox/") {
		q.account, q.key = "", "" // it ignores both
	}
	q.entry = isEntry(r.Operation) && !q.ReduceOnly
	q.resting = r.Operation == "POST /orders/limit"
	return q
}

// isEntry reports whether an operation can add exposure, unless its body says reduceOnly.
func isEntry(operation string) bool {
	if operation == "POST /orders" || operation == "POST /sandbox/orders" {
		return true
	}
	return strings.HasPrefix(operation, "POST /orders/") && operation != "POST /orders/cancel"
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

// retryable are the 5xx that say that nothing was placed.
var retryable = []string{"idempotency_unavailable", "no_price", "PRICE_UNAVAILABLE", "equity_unavailable"}

// known reports whether the answer arrived, and says what became of the request.
func (r *request) known() bool {
	foreign := strings.Contains(r.Fault, "gateway_") || strings.Contains(r.Fault, "raw")
	switch {
	case !r.Delivered || foreign:
		return false
	case r.Code == "idempotency_in_flight" || r.Code == "idempotency_result_unknown":
		return false
	case r.Status >= 500:
		return slices.Contains(retryable, r.Code)
	}
	return r.Code != "" || r.Status == 200
}

// text is the request for a person.
func (r *request) text() string {
	t := fmt.Sprintf("#%d %s", r.ID, r.Operation)
	if r.Side != "" {
		t += fmt.Sprintf(" %.5s %s %.20s", r.Side, r.Size, r.Symbol)
	}
	if r.LimitPrice.set {
		t += " at " + r.LimitPrice.String()
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

// under says what an entry that is a new one went out under.
func (r *request) under() string {
	if r.key == "" {
		return "without a key"
	}
	return "under a new key"
}

// point is a moment of a log: an arrival, an answer, an execution or a change.
type point struct {
	at   time.Time
	kind tradingsim.EventKind
	r    *request
	e    *tradingsim.Execution
	c    *tradingsim.Change
}

// timeline puts a log into the order of what happened: an answer counts from when it was given,
// however much later its line was written.
func timeline(events []tradingsim.Event) (points []point, byID map[int64]*request) {
	byID = map[int64]*request{}
	for _, e := range events {
		switch {
		case e.Kind == tradingsim.EventRequest:
			r := newRequest(*e.Request)
			byID[r.ID] = r
			points = append(points, point{r.At, e.Kind, r, nil, nil})
		case e.Kind == tradingsim.EventAnswer:
			r, ok := byID[e.Request.ID]
			if !ok {
				continue
			}
			r.Request = *e.Request
			if !r.AnsweredAt.IsZero() {
				points = append(points, point{r.AnsweredAt, e.Kind, r, nil, nil})
			}
		case e.Execution != nil:
			points = append(points, point{e.Execution.At, e.Kind, nil, e.Execution, nil})
		case e.Change != nil:
			points = append(points, point{e.Change.At, e.Kind, nil, nil, e.Change})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return a.at.Compare(b.at) })
	return points, byID
}
