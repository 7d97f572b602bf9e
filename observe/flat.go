package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"
)

// holding is what an account has, of one symbol or of all.
type holding struct {
	position     bool
	size         decimal.Decimal
	orders, runs []string
}

func (h holding) open() bool { return h.position || len(h.orders)+len(h.runs) > 0 }

// look reads what the account has in a symbol, or in all where it is empty.
func (d *desk) look(ctx context.Context, symbol string) (h holding, err error) {
	path := "/sandbox/positions"
	if d.class == Trial {
		path = "/positions?accountId=" + d.account
	}
	x, err := d.read(ctx, 0, d.as, path)
	if err != nil {
		return h, err
	}
	list, ok := rows(x.Response, "positions")
	if !ok || !x.success() {
		return h, errors.New("the positions cannot be read")
	}
	for _, row := range list {
		if of := text(row["symbol"]); symbol == "" || of == symbol || of == "" {
			h.position = true
			h.size, _ = decimal.NewFromString(number(row["size"])) // 0 for none
		}
	}
	if d.class != Trial {
		return h, nil
	}
	if x, err = d.read(ctx, 0, d.as, "/accounts/"+d.account+"/orders"); err != nil {
		return h, err
	}
	orders, ok := rows(member(x.Response, "orders"), "")
	runs, okay := rows(member(x.Response, "runs"), "")
	if !ok || !okay {
		return h, errors.New("what rests and runs cannot be read")
	}
	h.orders, h.runs = idsOf(orders, symbol), idsOf(runs, symbol)
	return h, nil
}

func idsOf(list []map[string]json.RawMessage, symbol string) (ids []string) {
	for _, row := range list {
		if of := text(row["symbol"]); symbol == "" || of == symbol {
			ids = append(ids, text(row["id"]))
		}
	}
	return ids
}

// NotFlatError means that what a run opened may still be there.
type NotFlatError struct {
	Where string // which account
	Err   error  // what stood in the way
}

// Error says what to do.
func (e *NotFlatError) Error() string {
	return fmt.Sprintf("observe: %s may not be flat: look at it; the next run goes on closing (%v)", e.Where, e.Err)
}

// Unwrap returns what stood in the way.
func (e *NotFlatError) Unwrap() error { return e.Err }

// leaveFlat closes what the scripts have left in their symbol, until three looks in a row show nothing. It goes on
// after an error: a position must not be left alone. After a run that was cut short it looks for
// longer, since what was sent may still arrive.
func (d *desk) leaveFlat(ctx context.Context, cut bool) error {
	ended := d.ended
	defer func() { d.ended = ended }()
	least := d.q.Clock.Now()
	if cut {
		least = least.Add(lateBy)
	}
	var last error
	calm := 0
	const tries = 24
	for range tries {
		d.ended = nil
		h, err := d.look(ctx, d.symbol)
		switch {
		case err != nil:
		case h.size.GreaterThan(d.largest):
			return &NotFlatError{d.where(), errors.New("the position is larger than any that was opened here: somebody else trades it, and nothing was closed")}
		case h.open():
			calm = 0
			err = d.exit(ctx, h)
		default:
			if calm++; calm >= looksFlat && !d.q.Clock.Now().Before(least) {
				return nil
			}
		}
		if err != nil {
			calm, last = 0, err
		}
		if d.refused {
			break // asking on would lock the address
		}
		if err := d.q.Clock.Sleep(ctx, readsSettle); err != nil {
			last = err
			break
		}
	}
	return &NotFlatError{d.where(), last}
}

func (d *desk) where() string {
	if d.class == OnPaper {
		return "the paper account"
	}
	return "account " + d.account
}

// exit cancels and closes what is there.
func (d *desk) exit(ctx context.Context, h holding) error {
	var all []request
	for _, id := range h.orders {
		if asID(id) {
			all = append(all, d.cancelling(cancelOrder, "orderId", id))
		}
	}
	for _, id := range h.runs {
		if asID(id) {
			all = append(all, d.cancelling(cancelRun, "runId", id))
		}
	}
	if h.position {
		path, body := d.closing()
		all = append(all, d.request(path, body, 0))
	}
	for _, r := range all {
		if err := d.pace(ctx, r); err != nil {
			return err
		}
		x, err := d.send(ctx, r)
		if x != nil {
			d.e.Exchanges = append(d.e.Exchanges, *x)
			d.e.Trades++
		}
		if err != nil {
			return err
		}
	}
	return nil
}
