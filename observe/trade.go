package observe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// How a run trades.
const (
	maxTrades   = 200              // writes of a run
	readsSettle = 5 * time.Second  // between two looks
	looksFlat   = 3                // that agree: reads may lag by ten seconds, twice what is assumed
	lateBy      = 30 * time.Second // how late what a killed run has sent may still arrive
	dollars     = 15               // what an order is worth: a little above the smallest
)

// step is one request of a script that trades: a template that is filled before the first write.
type step struct {
	path, body string        // of a POST; the body may be empty on paper
	read       string        // of a GET
	again      bool          // the write before once more, under its key
	atOnce     bool          // several times at once, under one key
	cancel     bool          // of the order that the write before has placed
	until      bool          // read until a position shows
	wait       time.Duration // before it
}

// script is what is done on a flat account. What it leaves is closed behind it.
type script struct {
	name   string
	rounds int
	steps  []step
}

// writesOf counts what scripts write, beside what they close behind themselves.
func writesOf(all []script) (n int) {
	for _, sc := range all {
		for _, st := range sc.steps {
			switch {
			case st.atOnce:
				n += sc.rounds * connections
			case st.read == "":
				n += sc.rounds
			}
		}
	}
	return n
}

// roundsOf counts the rounds of scripts, behind each of which a position may be closed.
func roundsOf(all []script) (n int) {
	for _, sc := range all {
		n += sc.rounds
	}
	return n
}

// desk is an account that scripts trade on: the paper account, or a trial.
type desk struct {
	*sender
	class   Class
	account string // empty on paper
	symbol  string
	as      credential
	values  *strings.Replacer
	largest decimal.Decimal // more than a script can open
	writes  int
}

func (s *sender) paper(ctx context.Context) error {
	return s.trade(ctx, &desk{sender: s, class: OnPaper, symbol: s.q.Symbol, as: sandboxKey}, paperScripts)
}

// trial trades on the trial account, if the service says that it is one.
func (s *sender) trial(ctx context.Context) error {
	d := &desk{sender: s, class: Trial, account: s.q.TrialAccount, symbol: s.q.Symbol, as: liveKey}
	if err := d.mayTrade(ctx); err != nil {
		return err
	}
	return s.trade(ctx, d, trialScripts)
}

// mayTrade makes sure that the account is a trial and active; paper is always.
func (d *desk) mayTrade(ctx context.Context) error {
	if d.class == OnPaper {
		return nil
	}
	accounts, err := d.list(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		switch {
		case a.id != d.account:
		case !a.trial:
			return d.end("account %s is no trial", a.id)
		case a.archived || a.status != "ACTIVE":
			return d.end("account %s is not active", a.id)
		default:
			return nil
		}
	}
	return d.end("there is no account %s of this key", d.account)
}

// trade runs scripts on an account that is flat, and leaves it flat.
func (s *sender) trade(ctx context.Context, d *desk, scripts []script) error {
	if err := s.q.held(d.account); err != nil {
		return s.end("%v", err)
	}
	if err := d.prepare(ctx, scripts); err != nil {
		return err
	}
	if what, err := d.look(ctx, ""); err != nil || what.open() {
		if err == nil {
			err = s.end("the account has a position, or something rests or runs on it: nothing was placed")
		}
		return err
	}
	if err := s.keepNote(d); err != nil {
		return err
	}
	err := d.play(ctx, scripts)
	if err == nil && d.class == OnPaper && d.q.SecondSandboxKey != "" {
		err = d.owners(ctx)
	}
	// Whatever has ended the run: a person who interrupts it, or the service.
	const long = 5 * time.Minute
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), long)
	defer cancel()
	if left := d.leaveFlat(leaving, err != nil); left != nil {
		return errors.Join(err, left)
	}
	if open := (*NotFlatError)(nil); errors.As(err, &open) { // between two scripts: now it is flat
		if err = ctx.Err(); err == nil {
			err = d.end("the account was not flat between two scripts, and is now (%v)", open.Err)
		}
	}
	return errors.Join(err, s.dropNote(d.class))
}

// play runs the scripts, each from a flat account.
func (d *desk) play(ctx context.Context, scripts []script) error {
	for _, sc := range scripts {
		for n := range sc.rounds {
			if err := d.q.held(d.account); err != nil {
				return d.end("%v", err)
			}
			if err := d.mayTrade(ctx); err != nil {
				return err
			}
			if err := d.script(ctx, sc, n); err != nil {
				return err
			}
			if err := d.leaveFlat(ctx, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// owners reads the paper account by two keys.
func (d *desk) owners(ctx context.Context) error {
	for n := range enoughRounds {
		r := Round{Script: scriptOwners, kept: true}
		for i, as := range []credential{sandboxKey, secondSandboxKey} {
			x, err := d.read(ctx, n+i, as, "/sandbox/account")
			if err != nil {
				return err
			}
			r.Steps = append(r.Steps, x)
		}
		d.e.Rounds = append(d.e.Rounds, r)
	}
	return nil
}

// prepare reads the price, and lets the guard pass what the scripts send, to the byte.
func (d *desk) prepare(ctx context.Context, scripts []script) error {
	if !asID(d.symbol) {
		return d.end("the symbol is none")
	}
	d.guard.reads["/sandbox/prices?symbol="+d.symbol] = true
	if d.class == OnPaper {
		for _, path := range []string{"/sandbox/account", "/sandbox/positions", "/sandbox/trades"} {
			d.guard.reads[path] = true
		}
	}
	if d.q.SandboxKey == "" {
		return d.end("a sandbox key is missing: prices come from the sandbox")
	}
	x, err := d.read(ctx, 0, sandboxKey, "/sandbox/prices?symbol="+d.symbol)
	if err != nil {
		return err
	}
	price, err := decimal.NewFromString(number(member(x.Response, "price")))
	if err != nil || !price.IsPositive() {
		return d.end("%s has no price", d.symbol)
	}
	d.size(price)
	for _, sc := range scripts {
		for _, st := range sc.steps {
			if st.path != "" {
				d.guard.exact["POST "+st.path+"\n"+d.values.Replace(st.body)] = true
			}
		}
	}
	path, body := d.closing()
	d.guard.exact["POST "+path+"\n"+body] = true
	return nil
}

// size computes the sizes and prices of the templates.
func (d *desk) size(price decimal.Decimal) {
	const digits, places = 2, 8
	one := decimal.NewFromInt(dollars).Div(price)
	one = one.RoundUp(min(int32(digits)-int32(one.NumDigits())-one.Exponent(), places))
	at := func(share string) string {
		const shown = 5
		p := price.Mul(decimal.RequireFromString(share))
		return p.Round(int32(shown) - int32(p.NumDigits()) - p.Exponent()).String()
	}
	d.largest = one.Mul(decimal.NewFromInt(20))
	d.values = strings.NewReplacer("@account", d.account, "@symbol", d.symbol, "@one", one.String(),
		"@two", one.Mul(decimal.NewFromInt(2)).String(), "@ten", one.Mul(decimal.NewFromInt(10)).String(),
		"@odd", one.Mul(decimal.NewFromInt(2)).Add(decimal.New(11, -places-1)).String(),
		"@dust", one.Add(decimal.New(1, -places-1)).String(), "@above", at("1.003"), "@far", at("0.7"))
}

// closing is the request that closes the position of the symbol.
func (d *desk) closing() (path, body string) {
	if d.class == OnPaper {
		return "/sandbox/positions/close", `{"symbol":"` + d.symbol + `"}`
	}
	return "/positions/close", `{"accountId":"` + d.account + `","symbol":"` + d.symbol + `"}`
}

// script sends the steps of a script.
func (d *desk) script(ctx context.Context, sc script, n int) error {
	r := Round{Script: sc.name, kept: true}
	before, err := d.health(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if now, err := d.health(ctx); err != nil || now != before {
			r.Void = "health changed"
		}
		for _, x := range r.Steps {
			if x.Header.Get("Age") != "" || x.Status == 0 {
				r.Void = "a request had no answer, or one from a cache"
			}
		}
		if len(r.Steps) < len(sc.steps) {
			r.Void = "it was not finished"
		}
		d.e.Rounds = append(d.e.Rounds, r)
	}()
	var last request
	for _, st := range sc.steps {
		wait := st.wait
		if st.again {
			wait = gaps[n%len(gaps)]
		}
		if err := d.q.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
		var x *Exchange
		var err error
		switch {
		case st.atOnce:
			var twins []*Exchange
			if twins, err = d.atOnce(ctx, d.request(st.path, d.values.Replace(st.body), n)); err == nil {
				r.Steps = append(r.Steps, twins...)
			}
		case st.until:
			x, err = d.shows(ctx, d.values.Replace(st.read))
		case st.read != "":
			x, err = d.read(ctx, n, d.as, d.values.Replace(st.read))
		default:
			last, err = d.next(st, last, r.Steps, n)
			if err == nil {
				x, err = d.post(ctx, last)
			}
		}
		if x != nil {
			r.Steps = append(r.Steps, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next is the request of a step that writes.
func (d *desk) next(st step, last request, steps []*Exchange, n int) (request, error) {
	switch {
	case st.again:
		last.line += n % 2
		last.soon = true
		return last, nil
	case st.cancel:
		id := text(member(member(steps[len(steps)-1].Response, "order"), "id"))
		if !asID(id) {
			return last, d.end("an order that was placed has no id")
		}
		return d.cancelling(cancelOrder, "orderId", id), nil
	default:
		return d.request(st.path, d.values.Replace(st.body), n), nil
	}
}

// request is a write under a key of its own; the paper account has none.
func (d *desk) request(path, body string, line int) request {
	r := request{line: line, method: http.MethodPost, path: path, body: body, as: d.as}
	if d.class == Trial {
		r.keys = []string{newKey()}
	}
	return r
}

// cancelling is the cancel of an order or a run that the account was seen to have.
func (d *desk) cancelling(path, name, id string) request {
	body := `{"accountId":"` + d.account + `","` + name + `":"` + id + `"}`
	d.guard.exact["POST "+path+"\n"+body] = true
	return d.request(path, body, 0)
}

// post sends a write on an account that trades, one a second.
func (d *desk) post(ctx context.Context, r request) (*Exchange, error) {
	if d.writes++; d.writes > maxTrades {
		return nil, d.end("%d writes are the most of a run", maxTrades)
	}
	if err := d.pace(ctx, r); err != nil {
		return nil, err
	}
	x, err := d.send(ctx, r)
	if x != nil {
		d.e.Exchanges = append(d.e.Exchanges, *x)
		d.e.Trades++
	}
	return x, err
}

// atOnce sends a write once over each connection.
func (d *desk) atOnce(ctx context.Context, r request) ([]*Exchange, error) {
	if d.writes += connections; d.writes > maxTrades {
		return nil, d.end("%d writes are the most of a run", maxTrades)
	}
	if err := d.pace(ctx, r); err != nil {
		return nil, err
	}
	all, err := d.together(ctx, r, connections)
	for _, x := range all {
		d.e.Exchanges = append(d.e.Exchanges, *x)
		d.e.Trades++
	}
	return all, err
}

// shows reads until a position shows.
func (d *desk) shows(ctx context.Context, path string) (x *Exchange, err error) {
	const often, least, most = 100 * time.Millisecond, 20 * time.Millisecond, 120
	for range most {
		if x, err = d.read(ctx, 0, d.as, path); err != nil {
			return x, err
		}
		if list, ok := rows(x.Response, "positions"); !ok || len(list) > 0 {
			break
		}
		if err := d.q.Clock.Sleep(ctx, max(least, often-x.Received.Sub(x.Sent))); err != nil {
			return x, err
		}
	}
	return x, nil
}
