package main

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// maxKeyPairs is half of the active keys that an owner may have.
const maxKeyPairs = 10

// liveAccounts are the accounts that --account names.
func (set *simFlags) liveAccounts() (opts []tradingsim.Option, err error) {
	seen := map[string]bool{}
	for _, text := range set.accounts {
		id, balance, ok := strings.Cut(text, "=")
		if !ok || id == "" || seen[id] {
			return nil, cli.Misuse("--account %q: want ID=BALANCE, each ID once", text)
		}
		if err := checkBalance("--account "+id, balance); err != nil {
			return nil, err
		}
		seen[id] = true
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: id, Balance: balance, Trial: slices.Contains(set.trials, id)}))
	}
	for _, id := range set.trials {
		if !seen[id] {
			return nil, cli.Misuse("--trial %q: want the ID of an --account", id)
		}
	}
	return opts, nil
}

// firstAccount is the live account that the bot of the demonstration trades.
func (set *simFlags) firstAccount() string {
	if len(set.accounts) == 0 {
		return "acc_1"
	}
	id, _, _ := strings.Cut(set.accounts[0], "=")
	return id
}

// stillMarkets are the markets that --market names, and their symbols.
func (set *simFlags) stillMarkets() (opts []tradingsim.Option, symbols map[string]bool, err error) {
	symbols = map[string]bool{}
	for _, text := range set.markets {
		symbol, price, ok := strings.Cut(text, "=")
		if !ok || cli.CheckSymbol(symbol) != nil || symbols[symbol] {
			return nil, nil, cli.Misuse("--market %q: want SYMBOL=PRICE, each SYMBOL once", text)
		}
		if price != "" {
			if d, err := cli.ParseNumber(price); err != nil || !d.IsPositive() {
				return nil, nil, cli.Misuse("--market %q: the price must be a plain number greater than 0, or nothing", text)
			}
		}
		symbols[symbol] = true
		opts = append(opts, tradingsim.WithMark(symbol, price))
	}
	return opts, symbols, nil
}

// checkBalance takes a plain number of dollars: an account without money can trade nothing.
func checkBalance(flag, v string) error {
	d, err := decimal.NewFromString(v)
	switch {
	case err != nil || len(v) > 30 || strings.ContainsAny(v, "eE"):
		return cli.Misuse("%s %q: want a plain number of dollars, such as 100000", flag, v)
	case !d.IsPositive():
		return cli.Misuse("%s %q must be greater than 0", flag, v)
	default:
		return nil
	}
}
