package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

// policy is what the operator allows a model. Amounts are dollars, but for the leverage. A limit that
// is left out bounds nothing; those that a live policy must have, readPolicy requires.
type policy struct {
	Accounts       []trading.AccountID `json:"accounts"`
	Symbols        []string            `json:"symbols"`
	Kinds          []string            `json:"kinds"`
	OrderNotional  *dollars            `json:"max_order_notional,omitempty"`
	PositionSize   *dollars            `json:"max_position_notional,omitempty"`
	DayNotional    *dollars            `json:"max_day_notional,omitempty"`
	OpenRisk       *dollars            `json:"max_open_risk,omitempty"`
	Leverage       *dollars            `json:"max_leverage,omitempty"`
	StopRequired   bool                `json:"stop_required"`
	EntriesPerHour *int                `json:"entries_per_hour,omitempty"`
	Hours          string              `json:"hours,omitempty"`
	Drawdown       *dollars            `json:"max_drawdown,omitempty"`

	digest string
}

// dollars is a text of plain digits.
type dollars struct{ decimal.Decimal }

func (d *dollars) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil || !plainAmount.MatchString(s) || len(s) > mostDigits {
		return fmt.Errorf("%.40s: an amount must be a text of plain digits, such as \"2500\"", data)
	}
	var err error
	d.Decimal, err = decimal.NewFromString(s)
	return err
}

// kinds are all kinds of entries; the first two need no live account.
var kinds = []string{"market", "limit", "resting", "conditional", "twap", "chase", "chase_twap", "ladder", "swarm"}

var plainHours = regexp.MustCompile(`^([01]\d|2[0-3]):([0-5]\d)-(([01]\d|2[0-3]):([0-5]\d)|24:00)$`)

// readPolicy reads a file that nobody else can write to.
func readPolicy(path string, mode Mode) (*policy, error) {
	if path == "" {
		if mode == Live {
			return nil, fmt.Errorf("a policy file is required in mode live")
		}
		return &policy{digest: "none"}, nil
	}
	data, _, err := disk.Read(path, mostBytes, disk.NoWrite)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be used: %w", err)
	}
	p, err := parsePolicy(data, mode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func parsePolicy(data []byte, mode Mode) (*policy, error) {
	if err := strict(data); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p := &policy{digest: hex.EncodeToString(sum[:8])}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	for _, k := range p.Kinds {
		if !slices.Contains(kinds, k) {
			return nil, fmt.Errorf("kinds has %q: it must be of %v", k, kinds)
		}
	}
	switch {
	case p.Hours != "" && !plainHours.MatchString(p.Hours):
		return nil, fmt.Errorf("hours is %q: it must be two times of a day in UTC, such as 08:00-22:00", p.Hours)
	case p.EntriesPerHour != nil && *p.EntriesPerHour < 0:
		return nil, fmt.Errorf("entries_per_hour is %d: it must not be below 0", *p.EntriesPerHour)
	case mode == Live && (len(p.Accounts) == 0 || p.Symbols == nil || p.Kinds == nil || p.OrderNotional == nil || p.PositionSize == nil || p.DayNotional == nil || p.Leverage == nil || p.EntriesPerHour == nil):
		return nil, fmt.Errorf("a live policy needs accounts, symbols, kinds, max_order_notional, max_position_notional, max_day_notional, max_leverage and entries_per_hour")
	}
	return p, nil
}

// within reports whether a limit holds an amount; one that is left out holds everything.
func (d *dollars) within(amount decimal.Decimal) bool {
	return d == nil || amount.LessThanOrEqual(d.Decimal)
}

// open reports whether a time of the day is within the hours.
func (p *policy) open(m Moment) bool {
	if p.Hours == "" {
		return true
	}
	now := m.Wall.UTC().Format("15:04")
	from, to := p.Hours[:5], p.Hours[6:]
	if from <= to {
		return from <= now && now < to
	}
	return from <= now || now < to
}

// allows judges what an entry is, without what the account holds.
func (p *policy) allows(a *action) *refusal {
	switch {
	case a.Account != "" && !slices.Contains(p.Accounts, a.Account):
		return breaks("accounts", "The account is not in the policy.")
	case !a.entry():
		return nil
	case p.Symbols != nil && !slices.Contains(p.Symbols, a.Symbol):
		return breaks("symbols", "The market is not in the policy.")
	case p.Kinds != nil && !slices.Contains(p.Kinds, a.Kind):
		return breaks("kinds", "This kind of order is not in the policy.")
	case p.Leverage != nil && (!a.Order.Leverage.IsPositive() || !p.Leverage.within(a.Order.Leverage)):
		return breaks("max_leverage", "Name a leverage of "+p.Leverage.String()+" at the most.")
	case p.StopRequired && a.Order.StopLoss.IsZero():
		return breaks("stop_required", "Name a stop_loss.")
	}
	return nil
}
