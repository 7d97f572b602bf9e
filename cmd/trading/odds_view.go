package main

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// forecastView is a forecast as JSON: what there is none of is null.
type forecastView struct {
	Headline    string                `json:"headline"`
	Refused     string                `json:"refused,omitempty"`
	Horizon     int                   `json:"horizonDays,omitempty"`
	Phases      int                   `json:"phases"`
	Pass        *chanceView           `json:"pass"`
	Lose        *chanceView           `json:"lose"`
	Undecided   *chanceView           `json:"undecided"`
	Held        *chanceView           `json:"held"`
	Days        trading.Opt[float64]  `json:"days"`
	DailyFloor  string                `json:"dailyFloor,omitempty"`
	Readings    []readingView         `json:"readings,omitempty"`
	Blocks      []odds.BlockPoint     `json:"blocks,omitempty"`
	ByDay       []odds.ByDay          `json:"byDay,omitempty"`
	Size        *sizeView             `json:"size,omitempty"`
	Seen        seenView              `json:"seen"`
	Assumptions []backtest.Assumption `json:"assumptions"`
	Seed        uint64                `json:"seed"`
}

type chanceView struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Mean  float64 `json:"mean"`
	Error float64 `json:"simulationError"`
}

type readingView struct {
	Name string     `json:"dailyFloor"`
	Pass chanceView `json:"pass"`
	Lose chanceView `json:"lose"`
}

type sizeView struct {
	Refused string               `json:"refused,omitempty"`
	Best    trading.Opt[float64] `json:"best"`
	By      string               `json:"by,omitempty"`
	Points  []odds.SizePoint     `json:"points,omitempty"`
	Reruns  []odds.RerunPoint    `json:"reruns,omitempty"`
}

type seenView struct {
	Days    int        `json:"days"`
	Traded  int        `json:"daysWithTrades"`
	Mean    cli.Amount `json:"meanOfADay"`
	Low     cli.Amount `json:"meanOfADayLow"` // null of a few days, as High
	High    cli.Amount `json:"meanOfADayHigh"`
	Best    cli.Amount `json:"bestDay"`
	Worst   cli.Amount `json:"worstDay"`
	Deepest cli.Amount `json:"deepestWithinADay"`
}

func viewChance(o trading.Opt[odds.Chance]) *chanceView {
	c, ok := o.Get()
	if !ok {
		return nil
	}
	return &chanceView{c.Low, c.High, c.Mean, c.Error}
}

func viewForecast(f *odds.Forecast) forecastView {
	s := f.Seen
	cents := func(v float64) cli.Amount { return cli.AmountOf(decimal.NewFromFloat(v).Round(2)) }
	known := func(o trading.Opt[float64]) cli.Amount {
		if v, ok := o.Get(); ok {
			return cents(v)
		}
		return cli.Amount{}
	}
	v := forecastView{
		Headline: f.Headline(), Refused: f.Refused, Horizon: f.Horizon, Phases: f.Phases,
		Pass: viewChance(f.Pass), Lose: viewChance(f.Lose), Undecided: viewChance(f.Undecided), Held: viewChance(f.Held),
		Days: f.Days, Blocks: f.Blocks, ByDay: f.ByDay, Assumptions: f.Assumptions, Seed: f.Seed,
		Seen: seenView{s.Days, s.Traded, cents(s.Mean), known(s.MeanLow), known(s.MeanHigh), cli.AmountOf(s.Best), cli.AmountOf(s.Worst), cli.AmountOf(s.Deepest)},
	}
	if f.Refused == "" {
		v.DailyFloor = f.Reading.String()
	}
	for _, r := range f.Readings {
		v.Readings = append(v.Readings, readingView{r.Name.String(), *viewChance(trading.Some(r.Pass)), *viewChance(trading.Some(r.Lose))})
	}
	if f.Size != nil {
		v.Size = &sizeView{f.Size.Refused, f.Size.Best, f.Size.By, f.Size.Points, f.Size.Reruns}
	}
	return v
}
