package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// written makes a journal of three intents.
func written(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intents.db")
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	for _, in := range []trading.Intent{
		{ID: "first", Operation: trading.OpSandboxOrder, Account: "acc_1", Symbol: "BTC", Try: 1, Created: at, Body: []byte("secret body")},
		{ID: "second", Operation: trading.OpSandboxClose, Account: "acc_22", Symbol: "DOGE", Try: 2, Created: at.Add(time.Second), Fenced: true},
		{
			ID: "third", Operation: trading.OpSandboxOrder, Account: "acc_1", Symbol: "BTC", Try: 1, Created: at.Add(time.Minute),
			Tag: "red \x1b[31m", Body: []byte(`{"size":1}`), Entry: true,
			Baseline: trading.Some(trading.Baseline{At: at, Size: decimal.RequireFromString("-0.5"), Orders: []trading.OrderID{"o1", "o2"}}),
		},
	} {
		if err := j.Begin(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	s := trading.Settlement{
		Outcome: trading.NotApplied, At: at.Add(time.Second), Basis: trading.BasisAnswer,
		Code: trading.CodeMaxSlippage, Answer: []byte(`{"error":"MAX_SLIPPAGE"}`),
	}
	if err := j.Settle(t.Context(), "first", s); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRun(t *testing.T) {
	path := written(t)
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"pending", nil, `
CREATED                   STATE            OPERATION                      ACCOUNT  SYMBOL  TRY  TAG             ID
2026-01-15T09:30:01.000Z  pending, fenced  POST /sandbox/positions/close  acc_22   DOGE    2                    second
2026-01-15T09:31:00.000Z  pending          POST /sandbox/orders           acc_1    BTC     1    "red \x1b[31m"  third
`},
		{"all", []string{"-all"}, `
CREATED                   STATE                       OPERATION                      ACCOUNT  SYMBOL  TRY  TAG             ID
2026-01-15T09:30:00.000Z  not applied (MAX_SLIPPAGE)  POST /sandbox/orders           acc_1    BTC     1                    first
2026-01-15T09:30:01.000Z  pending, fenced             POST /sandbox/positions/close  acc_22   DOGE    2                    second
2026-01-15T09:31:00.000Z  pending                     POST /sandbox/orders           acc_1    BTC     1    "red \x1b[31m"  third
`},
		{"settled", []string{"-show", "first"}, `
id         first
state      not applied (MAX_SLIPPAGE)
operation  POST /sandbox/orders
account    acc_1
symbol     BTC
try        1
created    2026-01-15T09:30:00.000Z
body       secret body
settled    2026-01-15T09:30:01.000Z
  by       its answer
  code     MAX_SLIPPAGE
  answer   {"error":"MAX_SLIPPAGE"}
`},
		{"with a baseline", []string{"-show", "third"}, `
id                third
state             pending
operation         POST /sandbox/orders
account           acc_1
symbol            BTC
can add exposure  yes
tag               "red \x1b[31m"
try               1
created           2026-01-15T09:31:00.000Z
body              {"size":1}
before it, read   2026-01-15T09:30:00.000Z
  size            -0.5
  entry price     0
  orders          o1 o2
  trades          0
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), &out, append(test.args, path)); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + out.String(); got != test.want {
				t.Errorf("it prints\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	path := written(t)
	none := filepath.Join(t.TempDir(), "none.db")
	var out strings.Builder
	if err := run(t.Context(), &out, []string{none}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has been made: %v", err)
	}
	if err := run(t.Context(), &out, []string{"-show", "fourth", path}); err == nil || !strings.Contains(err.Error(), "fourth") {
		t.Errorf("an intent that is not there: %v", err)
	}
	if err := run(t.Context(), &out, nil); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("no file: %v, want the usage", err)
	}

	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var locked *journal.LockedError
	if err := run(t.Context(), &out, []string{"-wait", "0", path}); !errors.As(err, &locked) || !strings.Contains(err.Error(), path) {
		t.Errorf("a journal that is open: %v, want a LockedError that names it", err)
	}
	if out.Len() != 0 {
		t.Errorf("beside the errors it prints %q", out.String())
	}
}

func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "intents.db")
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), &out, []string{path}); err != nil || out.String() != "nothing\n" {
		t.Errorf("an empty journal prints %q, %v", out.String(), err)
	}
}
