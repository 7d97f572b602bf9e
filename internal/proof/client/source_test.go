package client

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onFile is what the package exports, a line each: a test of internal/proof/surface keeps it so.
func onFile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/api/trading.txt")
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "github.com/shopspring/decimal.Decimal", "Decimal")
}

// A float cannot hold 0.1. None is in the API.
func TestNoFloatInTheAPI(t *testing.T) {
	assert.NotRegexp(t, `\b(float(32|64)?|complex(64|128))\b`, onFile(t))
}

// Mistakes that cost money elsewhere and do not compile here, each with what it would need and the
// API has otherwise.
func TestRefusedByTheCompiler(t *testing.T) {
	api := onFile(t)
	for mistake, needs := range map[string]string{
		"a price, a pointer, nil or a float for a level":                       "field Order.StopLoss Level ; field TPSL.StopLoss Level ; func At(Decimal) Level\n",
		"T56 an order type as text":                                            "field Order.Type OrderType\n",
		"T59 a bare number for how much to close, or none":                     "ClosePosition(context.Context, string, Part, ...CallOption); func Percent(Decimal) Part\n",
		"T97 a bare number where percent and basis points are easily confused": "field Order.MaxSlippagePct Opt[Decimal] ; field Swarm.SlippageBps Opt[Decimal] ",
		"the id of an order for that of a run":                                 "CancelOrder(context.Context, OrderID, ...CallOption); CancelRun(context.Context, RunID, ...CallOption)",
		"T49 calculating with a mark that may be absent":                       "field Position.Mark Mark\n; method (Mark) Price() (Decimal, bool)\n",
		"T50 making a mark without the rule for prices":                        "func MarkAt(Decimal) Mark\n",
		"T51 calculating with a PnL that may be absent":                        "field Position.UnrealizedPnL Opt[Decimal]\n; method (Opt[T any]) Get() (T, bool)\n; method (Positions) UnrealizedPnL() (Decimal, bool)\n",
		"taking a position without asking whether it is open":                  "method (Positions) In(string) (Position, bool)\n",
		"T73 a PnL that is gross, or a fee of both ways, without saying so":    "field Trade.GrossPnL Decimal\n; field Trade.RoundTripFee Decimal\n",
		"== on values, which would compare addresses":                          "type Level struct\n; type Mark struct\n; type Part struct\n; type Opt[T any] struct\n; type Order struct\n",
		"a status for a side":                                                  "field Order.Side Side\n; const StatusActive AccountStatus",
	} {
		for _, line := range strings.Split(needs, "; ") {
			assert.True(t, strings.Contains(api, line), "%s: the API has no %q", mistake, line)
		}
	}
	assert.NotRegexp(t, `field Trade\.(RealizedPnL|Fee) `, api)
}

var comment = regexp.MustCompile(`(?m)//.*$`)

// Clear and All would be constants if Go had constants of a struct type. As variables anybody can
// assign to them, so no code of the package depends on what they hold: each occurs once, where it
// is declared.
func TestExportedVariablesAreNotRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	occurs := map[string]int{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?:^|[^.\w])(Clear|All)\b`).FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
			occurs[found[1]]++
		}
	}
	assert.Equal(t, map[string]int{"Clear": 1, "All": 1}, occurs)
}

// sources are the Go files of the module that ship, or its tests; examples and
// generated code are among them, data is not.
func sources(t *testing.T, tests bool) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") == tests && !strings.HasPrefix(name, "tradingsim/") {
				files = append(files, name)
			}
		}
	}
	return files
}

// decides is where a Message is compared, searched or taken apart.
var decides = regexp.MustCompile(`\.Message *(\[|[<>]|[!=]= *([^" ]|"[^"]))|(switch|range|[<>!=]=|[<>]) [\w.]*\.Message\b|` +
	`\.(Match|Find|Contains|Has(Pre|Suf)fix|Index|Cut|Split|Fields|EqualFold|Compare|Equal|Sscan|ToLower|ToUpper|Trim)\w*\([^=\n]*\.Message\b`)

// A message is for people. No code of this module that ships decides by one: a Message may be
// passed on and printed, compared with "" to see whether there is one to print, and nothing else.
func TestTrap_T35_NoCodeDecidesByAMessage(t *testing.T) {
	files := sources(t, false)
	assert.Greater(t, len(files), 40)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Empty(t, decides.FindAllString(comment.ReplaceAllString(string(text), ""), -1), name)
	}
	for source, found := range map[string]bool{
		`if e.Message == "busy" {}`:                           true,
		`if e.Message != "" { println(e.Message) }`:           false,
		`switch e.Message { case "busy": }`:                   true,
		`switch { case e.Message > "b": }`:                    true,
		`_ = strings.Contains(strings.ToLower(e.Message), x)`: true,
		`_ = working.FindString(e.Message)`:                   true,
		`_ = e.Message[:5]`:                                   true,
		`for _, r := range e.Message { _ = r }`:               true,
		`x := &Error{Message: e.Message}; _ = x`:              false,
		`text += ": " + e.Message`:                            false,
		`_ = slog.String("message", e.Message)`:               false,
	} {
		assert.Equal(t, found, decides.MatchString(source), source)
	}
}
