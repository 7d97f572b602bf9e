package contract

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples are money that adds up: fees of 4.5 basis points, equity that
// is balance plus unrealized profit, and so on. Whoever learns the API from
// them must not learn a wrong sum.
func TestExamplesAddUp(t *testing.T) {
	text, err := os.ReadFile(contractFile)
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var doc any
	require.NoError(t, dec.Decode(&doc))
	checked := map[string]int{}
	walk(doc, "", func(path string, record map[string]any) {
		if !strings.Contains(path, "/examples/") {
			return
		}
		for name, check := range sums {
			if check.fits(record) {
				checked[name]++
				for _, problem := range check.problems(record) {
					t.Errorf("%s: %s", path, problem)
				}
			}
		}
	})
	for name := range sums {
		if checked[name] == 0 {
			t.Errorf("no example of %s was found", name)
		}
	}
}

// walk visits every object below a JSON value.
func walk(value any, path string, visit func(path string, record map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(path, value)
		for name, member := range value {
			walk(member, path+"/"+name, visit)
		}
	case []any:
		for _, element := range value {
			walk(element, path, visit)
		}
	}
}

type sum struct {
	needs    []string // the members that tell such a record
	problems func(record map[string]any) []string
}

func (s sum) fits(record map[string]any) bool {
	for _, name := range s.needs {
		if _, ok := record[name]; !ok {
			return false
		}
	}
	return true
}

var takerFee = rat("0.00045")

var sums = map[string]sum{
	"a sandbox account": {[]string{"balance", "unrealizedPnL", "profitSplit"}, func(r map[string]any) []string {
		return equal("equity", number(r, "equity"), add(number(r, "balance"), number(r, "unrealizedPnL")))
	}},
	"a position": {[]string{"notionalValue", "marginRequired", "side"}, func(r map[string]any) []string {
		price, problems := number(r, "entryPrice"), []string(nil)
		if r["markPrice"] == nil {
			if r["unrealizedPnL"] != nil {
				problems = append(problems, "unrealizedPnL of an unpriced position is not null")
			}
		} else {
			price = number(r, "markPrice")
			problems = equal("unrealizedPnL", number(r, "unrealizedPnL"), gain(r, price))
		}
		notional := mul(number(r, "size"), price)
		problems = append(problems, equal("notionalValue", number(r, "notionalValue"), notional)...)
		return append(problems, equal("leverage times marginRequired",
			mul(number(r, "leverage"), number(r, "marginRequired")), notional)...)
	}},
	"a closed trade": {[]string{"realizedPnL", "orderType", "entryPrice"}, func(r map[string]any) []string {
		entry, exit := number(r, "entryPrice"), number(r, "exitPrice")
		problems := equal("realizedPnL", number(r, "realizedPnL"), gain(r, exit))
		return append(problems, equal("fee", number(r, "fee"), mul(takerFee, mul(number(r, "size"), add(entry, exit))))...)
	}},
	"a live fill": {[]string{"price", "size", "fee"}, func(r map[string]any) []string {
		return equal("fee", number(r, "fee"), mul(takerFee, mul(number(r, "size"), number(r, "price"))))
	}},
	"a refused market order": {[]string{"estSlippagePct", "maxSlippagePct"}, func(r map[string]any) []string {
		if r["estSlippagePct"] != nil && number(r, "estSlippagePct").Cmp(number(r, "maxSlippagePct")) <= 0 {
			return []string{"the estimate is not above the maximum"}
		}
		return nil
	}},
}

// gain is what a position made when its price went from the entry to price.
func gain(record map[string]any, price *big.Rat) *big.Rat {
	moved := new(big.Rat).Sub(price, number(record, "entryPrice"))
	if record["side"] == "short" {
		moved.Neg(moved)
	}
	return mul(number(record, "size"), moved)
}

func equal(name string, got, want *big.Rat) []string {
	if got.Cmp(want) == 0 {
		return nil
	}
	return []string{name + " is " + got.FloatString(8) + ", want " + want.FloatString(8)}
}

func number(record map[string]any, name string) *big.Rat {
	text, _ := record[name].(json.Number)
	return rat(string(text))
}

// rat is an exact decimal; a text that is none counts as zero and so fails the
// comparison it is for.
func rat(text string) *big.Rat {
	if r, ok := new(big.Rat).SetString(text); ok {
		return r
	}
	return new(big.Rat)
}

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
