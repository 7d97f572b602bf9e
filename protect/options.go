package protect

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// ErrOptions means that Options cannot be meant: nothing was opened or sent.
var ErrOptions = errors.New("protect: invalid options")

// Options say what to protect and how. Client, Accounts and Dir are required.
type Options struct {
	// Client reads the accounts and closes them, and reads marks. It has a live key of its
	// own: on a key that a bot uses too, the bot's 429 blinds the protection. Its sandbox
	// key reads marks alone, never the paper account. It has the journal handle of the bots in
	// this program, so that they know what it closes.
	Client *trading.Client

	// Accounts are the live accounts to protect.
	Accounts []trading.AccountID

	// Dir is the folder that the states are kept in, on a disk that outlives the program.
	// One protection uses it at a time. It belongs to the user of the program, and nobody else
	// can write to it.
	Dir string

	// Limits are how near an account may come to its floor.
	Limits Limits

	// Floors are the program's own, in dollars of equity. They count where they are higher
	// than the service's.
	Floors map[trading.AccountID]decimal.Decimal

	// WithoutFloors lets an account start although no floor of it is known. Its entries are
	// refused all the same, since there is nothing to judge them by.
	WithoutFloors bool

	// Rollover is when the service's day begins: 00:00 UTC unless set.
	Rollover Rollover

	// BlindAfter is how long after the last good look an account is blind: 30 s unless set.
	// A blind account refuses entries.
	BlindAfter time.Duration

	// FlattenBlind is how long an account with positions may be blind before it is flattened,
	// for a market whose looks fail while closes still work; 0 is never.
	FlattenBlind time.Duration

	// ResumeNextDay ends Held when the service begins another day, by its assessments of health; one that says
	// a time which is more than two days from this machine's begins none. Unless set, only
	// [Protection.Resume] does. What a person has halted or flattened stays so.
	ResumeNextDay bool

	// WithoutFlatten closes nothing by itself, for a program that only wants its entries
	// judged: where the account would be flattened it takes no entries until there is room
	// again. What a person asks for and FlattenBlind are done all the same.
	WithoutFlatten bool

	// CloseTooLate closes an account all the same where closing itself breaches its floor.
	// Unless set, nothing is sent then, and an event says so.
	CloseTooLate bool
}

// Limits are how far markets are assumed to move, and how near an account may come to its
// floor. Zero values are the defaults.
type Limits struct {
	// Shock is how far a market moves against a position before a close has ended, as a
	// fraction of the price that is divided by the market's leverage cap: 0.025, so 0.5
	// percent at 5x.
	Shock decimal.Decimal

	// Gap is how far a market jumps at once where nothing stops it, likewise: 0.10, so 2
	// percent at 5x.
	Gap decimal.Decimal

	// Keep is the room that is never traded away, as a fraction of the starting balance:
	// 0.005.
	Keep decimal.Decimal

	// WarnAt, SoftHaltAt and FlattenAt are dollars of room. They make the account act
	// earlier than its positions need, and never later.
	WarnAt, SoftHaltAt, FlattenAt decimal.Decimal
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		of *decimal.Decimal
		to string
	}{{&l.Shock, "0.025"}, {&l.Gap, "0.10"}, {&l.Keep, "0.005"}} {
		if *f.of == (decimal.Decimal{}) { // not set; one that is 0 is a choice
			*f.of = trading.Dec(f.to)
		}
	}
	return l
}

func (l Limits) check() error {
	for _, f := range []struct {
		name string
		of   decimal.Decimal
	}{
		{"Shock", l.Shock}, {"Gap", l.Gap}, {"Keep", l.Keep},
		{"WarnAt", l.WarnAt}, {"SoftHaltAt", l.SoftHaltAt}, {"FlattenAt", l.FlattenAt},
	} {
		if f.of.IsNegative() {
			return fmt.Errorf("option Limits.%s is %s: it must not be less than 0", f.name, f.of)
		}
	}
	for _, f := range []struct {
		name string
		of   decimal.Decimal
	}{{"Shock", l.Shock}, {"Gap", l.Gap}, {"Keep", l.Keep}} {
		if f.of.GreaterThanOrEqual(one) {
			return fmt.Errorf("option Limits.%s is %s: it is a fraction, and must be less than 1", f.name, f.of)
		}
	}
	if l.Gap.LessThan(l.Shock) {
		return fmt.Errorf("option Limits.Gap is %s: it must not be less than Shock, which is %s", l.Gap, l.Shock)
	}
	return nil
}

func (o *Options) check() error {
	var wrong []error
	if o.Client == nil {
		wrong = append(wrong, errors.New("option Client is required"))
	}
	if len(o.Accounts) == 0 {
		wrong = append(wrong, errors.New("option Accounts is required"))
	}
	if o.Dir == "" {
		wrong = append(wrong, errors.New("option Dir is required"))
	}
	seen := map[trading.AccountID]bool{}
	for _, id := range o.Accounts {
		if id == "" || seen[id] {
			wrong = append(wrong, fmt.Errorf("option Accounts: %q is empty or named twice", id))
		}
		seen[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(o.Floors)) {
		if floor := o.Floors[id]; !seen[id] || !floor.IsPositive() {
			wrong = append(wrong, fmt.Errorf("option Floors: %s for %q: it must be greater than 0, and the account one of Accounts", floor, id))
		}
	}
	if o.BlindAfter < 0 || o.FlattenBlind < 0 {
		wrong = append(wrong, errors.New("options BlindAfter and FlattenBlind must not be negative"))
	}
	if o.CloseTooLate && o.WithoutFlatten {
		wrong = append(wrong, errors.New("options CloseTooLate and WithoutFlatten exclude each other"))
	}
	if h, m := o.Rollover.Hour, o.Rollover.Minute; h < 0 || h > 23 || m < 0 || m > 59 {
		wrong = append(wrong, fmt.Errorf("option Rollover is %d:%02d: it must be a time of day", h, m))
	}
	o.Limits = o.Limits.withDefaults()
	wrong = append(wrong, o.Limits.check())
	if o.BlindAfter == 0 {
		o.BlindAfter = 30 * time.Second
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return nil
}
