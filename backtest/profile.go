package backtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest/internal/words"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// ProfileInfo names the profile that the simulation behaved by.
type ProfileInfo struct {
	BaseURL    string    `json:"baseURL"`    // of the service that was seen; empty where the profile does not say
	MeasuredAt time.Time `json:"measuredAt"` // when the oldest of it was seen
	// Live and Paper are how many experiments were answered on live accounts and on the paper account.
	Live  int `json:"live"`
	Paper int `json:"paper"`
	// Otherwise are the numbers of the interpretations that the service takes other than the simulation does
	// by itself; see [tradingsim.Interpretations].
	Otherwise []int `json:"otherwise"`
}

func infoOf(p *profile.Profile) *ProfileInfo {
	if p == nil {
		return nil
	}
	info := &ProfileInfo{BaseURL: p.BaseURL, MeasuredAt: p.MeasuredAt, Otherwise: slices.Sorted(maps.Keys(tradingsim.Profiled(p)))}
	for _, r := range p.Results {
		switch {
		case r.Verdict == profile.Unseen:
		case r.Environment == profile.Paper:
			info.Paper++
		default:
			info.Live++
		}
	}
	return info
}

// String names the service, the date, and how much was answered.
func (i *ProfileInfo) String() string {
	if i == nil {
		return "by the document alone"
	}
	of := i.BaseURL
	if of == "" {
		of = "a service that it does not name"
	}
	otherwise := "no other interpretation"
	if len(i.Otherwise) > 0 {
		otherwise = "other interpretations " + strings.Trim(fmt.Sprint(i.Otherwise), "[]")
	}
	return fmt.Sprintf("by the profile of %s of %s: %s answered on live accounts, %d on the paper account, %s",
		of, i.MeasuredAt.UTC().Format(time.DateOnly), words.Count(i.Live, "experiment"), i.Paper, otherwise)
}

// checkProfile refuses a profile that is none, or that says of the floor something else than the account,
// and takes its fee.
func (p *plan) checkProfile() error {
	if p.Profile == nil {
		return nil
	}
	if err := p.Profile.Validate(); err != nil {
		return fmt.Errorf("backtest: Config.Profile: %w", err)
	}
	if _, moves := tradingsim.Profiled(p.Profile)[20]; moves && p.terms.DailyFloor == FixedFloor {
		return errors.New("backtest: Config.Account.DailyFloor is fixed, and by Config.Profile it moves; set BothFloors or MovingFloor")
	}
	if fee := p.Profile.Measured.TakerFee; fee != "" {
		p.terms.TakerFee = trading.Some(decimal.RequireFromString(fee))
	}
	return nil
}

// profileOptions are those of the simulation. Each path draws by a seed of its own.
func (p plan) profileOptions() []tradingsim.Option {
	if p.Profile == nil {
		return nil
	}
	seed := p.in.seed
	if !p.in.drawn {
		seed = p.Seed
	}
	return []tradingsim.Option{tradingsim.WithProfile(p.Profile), tradingsim.WithSeed(seed)}
}
