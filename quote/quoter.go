package quote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// lag is how long a read may lack what was written: the service's caches lag by some seconds.
const lag = 10 * time.Second

// ErrUnreadable is a resting limit of the account whose record lacks what it is compared by:
// the contract shows its id alone. Nothing is sent.
var ErrUnreadable = errors.New("quote: a resting limit shows no market, side, price or size")

// Quoter carries out differences on one market of one account. It is for one goroutine, and
// the only one on its market.
type Quoter struct {
	client  *trading.Client
	account *trading.Account
	id      trading.AccountID
	o       Options

	placed    map[trading.OrderID]written // by this Quoter: what it is, and when
	cancelled map[trading.OrderID]time.Time
	unsure    bool      // a write in doubt may have ended since the last Step, or since another run
	holdUntil time.Time // no placement before
	places    window
	cancels   window
}

type written struct {
	Quote
	at time.Time
}

// New returns a Quoter. It sends nothing.
func New(client *trading.Client, account trading.AccountID, o Options) (*Quoter, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, errors.New("quote: the client is nil")
	}
	return &Quoter{
		client: client, account: client.Live.Account(account), id: account, o: o,
		placed: map[trading.OrderID]written{}, cancelled: map[trading.OrderID]time.Time{},
		unsure: true, places: window{most: o.PerMinute}, cancels: window{most: o.PerMinute},
	}, nil
}

// Result is what a Step did.
type Result struct {
	Placed    []Resting // with the ids of the service
	Cancelled []Resting // these rest no more
	Kept      []Resting // what rested already, and serves a quote
	// Gone are orders that were to be cancelled and could not be found: they may have been
	// filled. Read the position before the next Step.
	Gone []Resting
	// Held are quotes that were not placed, and Waiting are orders that were not cancelled,
	// for Reason; a later Step does it.
	Held    []Quote
	Waiting []Resting
	Reason  string
	// Pending are writes whose outcome is not known. While there are some, nothing is placed.
	Pending []trading.IntentID
}

// Step brings what rests nearer to what is desired, by the fewest cancels and placements. It
// returns at the first write that fails; what was done until then is in the Result, which is
// never nil. The error of a write says by [trading.OutcomeOf] whether it happened. An empty
// list cancels everything that rests in the market.
//
// Quotes that are beyond the limits of Options, that cross each other or that are none are
// refused as a whole, and nothing is sent.
func (q *Quoter) Step(ctx context.Context, desired []Quote) (*Result, error) {
	result := &Result{}
	if err := q.o.judge(desired); err != nil {
		return result, err
	}
	if err := q.findPending(ctx, result); err != nil {
		return result, err
	}
	resting, err := q.read(ctx)
	if err != nil {
		return result, err
	}
	plan := Diff(desired, resting, q.o.Least)
	result.Kept = plan.Keep
	left, err := q.cancelAll(ctx, plan.Cancel, result)
	if err != nil {
		result.Held = plan.Place
		return result, err
	}
	return result, q.placeAll(ctx, plan.Place, append(left, plan.Keep...), result)
}

// findPending notes the writes whose outcome is not known: what they placed may rest, and
// what they cancelled may rest too.
func (q *Quoter) findPending(ctx context.Context, result *Result) error {
	pending, err := q.client.Pending(ctx)
	if err != nil {
		return fmt.Errorf("quote: %w", err)
	}
	for _, p := range pending {
		limit := p.Operation == trading.OpLimit && (p.Symbol == "" || p.Symbol == q.o.Symbol)
		if p.Account == q.id && (limit || p.Operation == trading.OpCancelOrder) {
			result.Pending = append(result.Pending, p.ID)
		}
	}
	if q.unsure || len(result.Pending) > 0 { // until reads show what was written until now
		q.holdUntil = time.Now().Add(lag)
	}
	q.unsure = len(result.Pending) > 0
	return nil
}

// read reads what rests, with what was written since and reads may not show.
func (q *Quoter) read(ctx context.Context) ([]Resting, error) {
	began := time.Now()
	open, err := q.account.OpenOrders(ctx)
	if err != nil {
		return nil, fmt.Errorf("quote: %w", err)
	}
	var resting []Resting
	shown := map[trading.OrderID]bool{}
	for _, o := range open.Limits {
		if o.Symbol != "" && o.Symbol != q.o.Symbol {
			continue
		}
		shown[o.ID] = true
		if at, gone := q.cancelled[o.ID]; gone && began.Sub(at) < lag {
			continue
		}
		r, known := q.known(o)
		if !known {
			return nil, fmt.Errorf("%w: %s", ErrUnreadable, o.ID)
		}
		resting = append(resting, r)
	}
	for id, w := range q.placed {
		switch _, gone := q.cancelled[id]; {
		case gone || shown[id]:
		case began.Sub(w.at) < lag:
			resting = append(resting, Resting{id, w.Quote})
		default:
			delete(q.placed, id) // filled, or cancelled by somebody else
		}
	}
	for id, at := range q.cancelled {
		if began.Sub(at) >= lag {
			delete(q.cancelled, id)
			if !shown[id] {
				delete(q.placed, id)
			}
		}
	}
	return resting, nil
}

// known is an order as its record shows it, or as this Quoter placed it.
func (q *Quoter) known(o trading.RestingOrder) (Resting, bool) {
	size, sized := o.Size.Get()
	price, priced := o.LimitPrice.Get()
	if o.Symbol != "" && (o.Side == trading.Long || o.Side == trading.Short) && sized && priced {
		return Resting{o.ID, Quote{o.Side, price, size}}, true
	}
	own, placed := q.placed[o.ID]
	return Resting{o.ID, own.Quote}, placed
}

// cancelAll cancels, and returns those that rest on.
func (q *Quoter) cancelAll(ctx context.Context, orders []Resting, result *Result) (left []Resting, err error) {
	for i, o := range orders {
		if !q.cancels.take(time.Now()) {
			result.Waiting, result.Reason = orders[i:], "there were PerMinute cancels in the last minute"
			return orders[i:], nil
		}
		switch _, err := q.account.CancelOrder(ctx, o.ID); {
		case err == nil, trading.OutcomeOf(err) == trading.Applied:
			q.cancelled[o.ID] = time.Now()
			result.Cancelled = append(result.Cancelled, o)
		case errors.Is(err, trading.CodeOrderNotFound):
			q.cancelled[o.ID] = time.Now()
			result.Gone = append(result.Gone, o)
		default:
			q.unsure = q.unsure || trading.OutcomeOf(err) == trading.Unknown
			result.Waiting = orders[i:]
			return orders[i:], fmt.Errorf("quote: cancel of %s: %w", o.ID, err)
		}
	}
	return nil, nil
}

// placeAll places what there is room for beside what rests.
func (q *Quoter) placeAll(ctx context.Context, quotes []Quote, resting []Resting, result *Result) error {
	switch {
	case len(quotes) == 0:
		return nil
	case len(result.Gone) > 0:
		result.Held, result.Reason = quotes, "an order could not be found, and may have been filled"
		return nil
	case len(result.Pending) > 0:
		result.Held, result.Reason = quotes, "the outcome of an earlier write is not known"
		return nil
	case time.Now().Before(q.holdUntil):
		result.Held, result.Reason = quotes, "reads may not show yet what was written before"
		return nil
	}
	for i, quote := range quotes {
		if !q.room(quote, resting) {
			result.Held = append(result.Held, quote)
			result.Reason = "what rests and is not cancelled yet leaves no room"
			continue
		}
		if !q.places.take(time.Now()) {
			result.Held = append(result.Held, quotes[i:]...)
			result.Reason = "there were PerMinute placements in the last minute"
			return nil
		}
		placed, err := q.place(ctx, quote)
		if err != nil {
			result.Held = append(result.Held, quotes[i:]...)
			return err
		}
		resting = append(resting, placed)
		result.Placed = append(result.Placed, placed)
	}
	return nil
}

// room reports whether what rests, and a quote more, is within the limits.
func (q *Quoter) room(quote Quote, resting []Resting) bool {
	total := quote.Size
	for _, r := range resting {
		if r.Side == quote.Side {
			total = total.Add(r.Size)
		}
	}
	return len(resting) < q.o.MaxOrders && !total.GreaterThan(q.o.most(quote.Side))
}

func (q *Quoter) place(ctx context.Context, quote Quote) (Resting, error) {
	result, err := q.account.PlaceLimit(ctx, trading.Order{
		Symbol: q.o.Symbol, Side: quote.Side, Size: quote.Size, Leverage: q.o.Leverage,
		LimitPrice: trading.At(quote.Price), ReduceOnly: q.o.ReduceOnly,
	})
	if result != nil && result.Order.ID != "" { // with an error too: executed late
		q.placed[result.Order.ID] = written{quote, time.Now()}
		return Resting{result.Order.ID, quote}, nil
	}
	if err == nil {
		err = errors.New("the answer shows no id")
	}
	q.unsure = q.unsure || trading.OutcomeOf(err) != trading.NotApplied // it may rest, or does under an id that is not known
	return Resting{}, fmt.Errorf("quote: %s of %s at %s: %w", quote.Side, quote.Size, quote.Price, err)
}

// window counts what there was in the last minute.
type window struct {
	most int
	at   []time.Time
}

func (w *window) take(now time.Time) bool {
	for len(w.at) > 0 && now.Sub(w.at[0]) >= time.Minute {
		w.at = w.at[1:]
	}
	if len(w.at) >= w.most {
		return false
	}
	w.at = append(w.at, now)
	return true
}
