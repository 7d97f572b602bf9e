package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// done answers a change that there is nothing to say about.
func done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// market finds the market of a request.
func (s *server) market(symbol string) (tradingsim.MarketState, error) {
	markets := s.sim.State().Markets
	i := slices.IndexFunc(markets, func(m tradingsim.MarketState) bool { return m.Symbol == symbol })
	if i < 0 {
		return tradingsim.MarketState{}, notFound(fmt.Sprintf("there is no market %.40q", symbol))
	}
	return markets[i], nil
}

// account judges the name of a live account.
func (s *server) account(id string) error {
	known := func(a tradingsim.AccountState) bool { return a.ID == id && id != "" }
	if !slices.ContainsFunc(s.sim.State().Accounts, known) {
		return notFound(fmt.Sprintf("there is no live account %.40q", id))
	}
	return nil
}

func (s *server) setMark(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Price json.RawMessage `json:"price"`
	}](w, r)
	if err != nil {
		return err
	}
	m, err := s.market(r.PathValue("symbol"))
	if err != nil {
		return err
	}
	price, err := readPrice(body.Price)
	if err != nil {
		return err
	}
	return done(w, attempt(func() { s.sim.SetMark(m.Symbol, price) }))
}

// readPrice reads a price; null is none, and "" for the simulation.
func readPrice(raw json.RawMessage) (price string, err error) {
	switch {
	case raw == nil:
		return "", badRequest("price is missing; null stands for no price")
	case string(raw) == "null":
		return "", nil
	}
	if json.Unmarshal(raw, &price) != nil {
		return "", badRequest("price must be a number as text, or null")
	}
	return price, positive("price", price)
}

// marketBody describes a market. What is left out has its default.
type marketBody struct {
	Label       string  `json:"label"`
	Category    string  `json:"category"`
	Price       *string `json:"price"`
	MaxLeverage *string `json:"maxLeverage"`
	NotionalCap *string `json:"notionalCap"`
	Disabled    bool    `json:"disabled"`
	Paused      bool    `json:"paused"`
	FillError   string  `json:"fillError"`
	Book        *struct {
		Levels []struct {
			Bps  string `json:"bps"`
			Size string `json:"size"`
		} `json:"levels"`
		Unreadable bool `json:"unreadable"`
	} `json:"book"`
}

const (
	maxLabel  = 64
	maxLevels = 100
)

func (s *server) setMarket(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[marketBody](w, r)
	if err != nil {
		return err
	}
	m, err := body.market(r.PathValue("symbol"))
	if err != nil {
		return err
	}
	return done(w, attempt(func() {
		s.sim.SetFillError(m.Symbol, body.FillError) // first: it judges the code
		s.sim.SetMarket(m)
	}))
}

func (b marketBody) market(symbol string) (m tradingsim.Market, err error) {
	if !plainSymbol.MatchString(symbol) {
		return m, badRequest(fmt.Sprintf("a symbol has 1 to 32 letters, digits, dots, colons, dashes or underscores, and this one is %.40q", symbol))
	}
	if len(b.Label) > maxLabel {
		return m, badRequest(fmt.Sprintf("label must have at most %d bytes", maxLabel))
	}
	m = tradingsim.Market{Symbol: symbol, Label: b.Label, Category: b.Category, Disabled: b.Disabled, Paused: b.Paused}
	if b.Category != "" {
		if err := oneOf("category", b.Category, "crypto", "stocks", "indices", "commodities", "fx"); err != nil {
			return m, err
		}
	}
	for _, f := range []struct {
		name string
		sent *string
		to   *string
	}{{"price", b.Price, &m.Price}, {"maxLeverage", b.MaxLeverage, &m.MaxLeverage}, {"notionalCap", b.NotionalCap, &m.NotionalCap}} {
		if f.sent == nil {
			continue
		}
		if err := positive(f.name, *f.sent); err != nil {
			return m, err
		}
		*f.to = *f.sent
	}
	m.Book, err = b.book()
	return m, err
}

func (b marketBody) book() (book tradingsim.Book, err error) {
	if b.Book == nil {
		return book, nil
	}
	if len(b.Book.Levels) > maxLevels {
		return book, badRequest(fmt.Sprintf("book.levels must have at most %d entries", maxLevels))
	}
	book.Unreadable = b.Book.Unreadable
	for _, l := range b.Book.Levels {
		if err := positive("book.levels.bps", l.Bps); err != nil {
			return book, err
		}
		if err := positive("book.levels.size", l.Size); err != nil {
			return book, err
		}
		book.Levels = append(book.Levels, tradingsim.BookLevel{Bps: l.Bps, Size: l.Size})
	}
	return book, nil
}

func (s *server) setHealth(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Status string `json:"status"`
		Feed   string `json:"feed"`
	}](w, r)
	if err != nil {
		return err
	}
	if err := oneOf("status", body.Status, "healthy", "degraded", "unavailable"); err != nil {
		return err
	}
	if err := oneOf("feed", body.Feed, "live", "stale", "unknown"); err != nil {
		return err
	}
	return done(w, attempt(func() { s.sim.SetHealth(body.Status, body.Feed) }))
}

func (s *server) setAccount(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Status string `json:"status"`
	}](w, r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if err := s.account(id); err != nil {
		return err
	}
	if err := oneOf("status", body.Status, "ACTIVE", "PURCHASED", "FUNDED", "PASSED", "FAILED", "EXPIRED"); err != nil {
		return err
	}
	return done(w, attempt(func() { s.sim.SetStatus(id, body.Status) }))
}

// maxAdvance bounds one move of the clock: what waits is looked at second by second.
const maxAdvance = 31 * 24 * time.Hour

func (s *server) manualClock() (now time.Time, err error) {
	st := s.sim.State()
	if !st.ManualClock {
		err = problem{http.StatusConflict, "no_manual_clock", "the clock runs by itself: only a manual clock is moved"}
	}
	return st.At, err
}

func (s *server) advance(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		By string `json:"by"`
	}](w, r)
	if err != nil {
		return err
	}
	by, err := duration("by", body.By, maxAdvance)
	if err != nil {
		return err
	}
	if _, err := s.manualClock(); err != nil {
		return err
	}
	return done(w, attempt(func() { s.sim.Advance(by) }))
}

func (s *server) setClock(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		At time.Time `json:"at"`
	}](w, r)
	if err != nil {
		return err
	}
	now, err := s.manualClock()
	if err != nil {
		return err
	}
	by := body.At.Sub(now)
	if by < 0 || by > maxAdvance {
		return badRequest(fmt.Sprintf("at must be from %s to %v later", now.Format(time.RFC3339Nano), maxAdvance))
	}
	return done(w, attempt(func() { s.sim.Advance(by) }))
}

func (s *server) trade(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Account string `json:"account"`
		Symbol  string `json:"symbol"`
		Side    string `json:"side"`
		Size    string `json:"size"`
	}](w, r)
	if err != nil {
		return err
	}
	if err := s.account(body.Account); err != nil {
		return err
	}
	m, err := s.market(body.Symbol)
	if err != nil {
		return err
	}
	if err := oneOf("side", body.Side, "long", "short"); err != nil {
		return err
	}
	if err := positive("size", body.Size); err != nil {
		return err
	}
	if !m.Price.Valid {
		return problem{http.StatusConflict, "no_price", m.Symbol + " has no price to trade at"}
	}
	return done(w, attempt(func() { s.sim.Trade(body.Account, body.Side, body.Size, body.Symbol) }))
}

func (s *server) payFunding(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Account string `json:"account"`
		Symbol  string `json:"symbol"`
		Amount  string `json:"amount"`
	}](w, r)
	if err != nil {
		return err
	}
	if err := s.account(body.Account); err != nil {
		return err
	}
	if _, err := s.market(body.Symbol); err != nil {
		return err
	}
	if err := number("amount", body.Amount); err != nil {
		return err
	}
	return done(w, attempt(func() { s.sim.PayFunding(body.Account, body.Symbol, body.Amount) }))
}

func (s *server) revokeKey(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		ID string `json:"id"`
	}](w, r)
	if err != nil {
		return err
	}
	for _, k := range s.sim.State().Keys {
		if k.ID == body.ID {
			return done(w, attempt(func() { s.sim.RevokeKey(k.Key) }))
		}
	}
	return notFound(fmt.Sprintf("there is no key %.40q", body.ID))
}
