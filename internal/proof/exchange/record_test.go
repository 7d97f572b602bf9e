package exchange_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
)

// dir is where the exchanges are.
const dir = "../../../testdata/exchanges"

var (
	record        = flag.Bool("record", false, "write the exchanges instead of comparing them")
	into          = flag.String("into", "", "the `folder` that every exchange is written to, those that are not on file too")
	rewrite       = flag.String("rewrite", "^$", "with -record and without -base-url: which exchanges may change, as a regular expression of operation/file")
	drift         = flag.Bool("drift", false, "report where the service at -base-url differs in shape")
	baseURL       = flag.String("base-url", "", "with -record or -drift: the versioned root of another service than the simulation")
	liveAccount   = flag.String("account", "", "with -base-url: the live account to read; without one no live account is read")
	sandboxWrites = flag.Bool("sandbox-writes", false, "with -base-url: also trade and RESET the paper account of TRADING_SANDBOX_KEY")
	liveWrites    = flag.Bool("live-writes", false, "with -base-url: also send live writes that must be refused; none that could trade is ever sent")
)

// allCases are every case, by its path.
var allCases = sync.OnceValues(func() (map[string]testCase, error) {
	codes, err := documentedCodes()
	if err != nil {
		return nil, err
	}
	ops := map[string]*operation{}
	for _, o := range operations() {
		ops[o.id] = o
	}
	list := successes(ops)
	for i := range list {
		list[i].filed = true
	}
	var refused []testCase
	for _, o := range operations() {
		refused = append(refused, refusals(ops[o.id], codes[o.id])...)
	}
	// A refusal is on file once: of an operation for which the simulation has a rule, of placeOrder first.
	order := func(c testCase) string {
		return fmt.Sprint(c.source != exchange.Simulated, c.op.id != "placeOrder", c.op.id)
	}
	slices.SortFunc(refused, func(a, b testCase) int { return strings.Compare(order(a), order(b)) })
	names := map[string]bool{}
	for _, c := range refused {
		c.filed = !names[c.name]
		names[c.name] = true
		list = append(list, c)
	}
	cases := map[string]testCase{}
	for _, c := range list {
		if _, taken := cases[c.path()]; taken {
			return nil, fmt.Errorf("two cases are called %s", c.path())
		}
		cases[c.path()] = c
	}
	return cases, nil
})

func cases(t testing.TB) map[string]testCase {
	t.Helper()
	all, err := allCases()
	require.NoError(t, err)
	return all
}

var made = struct { // the exchanges that are not on file, by their path

	sync.Mutex

	of map[string]*exchange.File
}{of: map[string]*exchange.File{}}

// exchangeAt is the exchange of a case: its file, or what the simulation answers where there is none.
func exchangeAt(t *testing.T, c testCase) *exchange.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, c.path()))
	if err == nil {
		f, err := exchange.Decode(text)
		require.NoError(t, err)
		return f
	}
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.False(t, c.filed, "record it: go test ./internal/proof/exchange -run TestRecorded -record")
	made.Lock()
	defer made.Unlock()
	f, ok := made.of[c.path()]
	if !ok {
		f = recorded(t, c)
		made.of[c.path()] = f
	}
	return f
}

// exchanges are those of all cases, in the order of their paths.
func exchanges(t *testing.T) []*exchange.File {
	t.Helper()
	all := cases(t)
	var files []*exchange.File
	for _, path := range slices.Sorted(maps.Keys(all)) {
		files = append(files, exchangeAt(t, all[path]))
	}
	return files
}

// documentedCodes are the codes that openapi.json documents, by operation.
func documentedCodes() (map[string][]documented, error) {
	text, err := os.ReadFile("../../../openapi.json")
	if err != nil {
		return nil, err
	}
	var contract struct {
		Paths map[string]map[string]struct {
			OperationID string       `json:"operationId"`
			Codes       []documented `json:"x-error-codes"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		return nil, err
	}
	codes := map[string][]documented{}
	for _, item := range contract.Paths {
		for _, op := range item {
			codes[op.OperationID] = op.Codes
		}
	}
	return codes, nil
}

// exchangeOf makes a case happen in a world and returns what crossed the wire,
// with what the client must make of it.
func exchangeOf(t *testing.T, w *world, c *testCase) *exchange.File {
	t.Helper()
	if c.before != nil {
		c.before(w)
	}
	base, err := url.Parse(w.baseURL)
	require.NoError(t, err)
	recorder, executed := exchange.NewRecorder(w.base, base.Path), w.executed()
	_, _ = w.call(c, recorder) // what it must return is told by the exchange
	if c.code != "" {
		assert.Equal(t, executed, w.executed(), "a refusal executes nothing")
	}
	taken := recorder.Take()
	require.Len(t, taken, 1, "a call is one exchange")
	if c.elapse > 0 {
		time.Sleep(c.elapse) // virtual
	}
	f := taken[0]
	f.Operation, f.Case, f.Shows, f.Source, f.Changed = c.op.id, c.name, c.shows, c.source, c.changed
	exchange.Normalize(f, w.sandboxKey, w.liveKey)
	return f
}

// simulate makes a case happen in the simulation, on virtual time.
func simulate(t *testing.T, c testCase) *exchange.File {
	t.Helper()
	var f *exchange.File
	synctest.Test(t, func(t *testing.T) { f = exchangeOf(t, simulated(t, &c), &c) })
	return f
}

// recorded is the exchange of a case by the simulation: the answer is the case's.
func recorded(t *testing.T, c testCase) *exchange.File {
	t.Helper()
	f := simulate(t, c)
	require.Equal(t, c.status, f.Response.Status, "%s: %s", c.path(), f.Response.Bytes())
	require.Equal(t, c.code, errorCode(f), "%s: %s", c.path(), f.Response.Bytes())
	f.Expect = expectation(t, f, &c)
	return f
}

// expectation is what the client must make of an exchange. Whether that is a
// result or an error, and which, follows from the exchange; only how a result
// reads is the client's own, so that a change of it shows.
func expectation(t *testing.T, f *exchange.File, c *testCase) exchange.Expect {
	t.Helper()
	if isResult(f) {
		value, err := replay(t, f, c)
		require.NoError(t, err)
		return exchange.Expect{Result: printed(t, value)}
	}
	refused := &exchange.ExpectError{Code: errorCode(f)}
	refused.Kind = string(kindOf(refused.Code))
	if c.op.write {
		refused.Outcome = outcomeOf(refused.Code, f.Response.Status).String()
		if c.key != "" { // it may have been used before, so the refusal may be another use's
			refused.Outcome = trading.Unknown.String()
		}
	}
	return exchange.Expect{Error: refused}
}

// isResult tells the answers that are no errors to a caller: an assessment of
// health, and that a market has no price, whatever their status.
func isResult(f *exchange.File) bool {
	switch {
	case f.Response.Status < http.StatusMultipleChoices:
		return true
	case f.Operation == "getHealth":
		return errorCode(f) == ""
	default:
		return f.Operation == "getPrices" && f.Response.Status == http.StatusNotFound && errorCode(f) == "no_price"
	}
}

func errorCode(f *exchange.File) string {
	var refusal struct{ Error string }
	if json.Unmarshal(f.Response.Bytes(), &refusal) != nil {
		return ""
	}
	return refusal.Error
}

// printed is a result as JSON, sorted, without how it came about and without
// what it has none of.
func printed(t testing.TB, value any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	require.NoError(t, d.Decode(&tree))
	if members, ok := tree.(map[string]any); ok {
		delete(members, "Meta")
		delete(members, "Age") // of health, by the clock of the test
	}
	dropEmptyExtra(tree)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(tree))
	return bytes.TrimSpace(b.Bytes())
}

func dropEmptyExtra(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		if extra, ok := tree["Extra"]; ok && extra == nil {
			delete(tree, "Extra")
		}
		for _, value := range tree {
			dropEmptyExtra(value)
		}
	case []any:
		for _, value := range tree {
			dropEmptyExtra(value)
		}
	}
}

// The files are what the simulation answers today, byte for byte: nobody has
// edited them, and the simulation has not moved away from them. Of a file that was
// recorded from another service the shape is compared. With -record they are
// written instead, and with -into all exchanges are, into another folder.
func TestRecorded(t *testing.T) {
	if *baseURL != "" && (*record || *drift) {
		t.Skip("another service is asked")
	}
	all := cases(t)
	for path, c := range all {
		if !c.filed && *into == "" {
			continue // exchanges makes it
		}
		t.Run(path, func(t *testing.T) {
			f := recorded(t, c)
			text, err := f.Encode()
			require.NoError(t, err)
			name := filepath.Join(dir, path)
			if *into != "" {
				writeExchange(t, filepath.Join(*into, path), text, false)
				return
			}
			if *record {
				writeExchange(t, name, text, regexp.MustCompile(*rewrite).MatchString(path))
				return
			}
			want, err := os.ReadFile(name)
			require.NoError(t, err, "record it: go test ./internal/proof/exchange -run TestRecorded -record")
			was, err := exchange.Decode(want)
			require.NoError(t, err)
			if was.Source == exchange.Service { // it outranks the simulation, which has other values
				assert.Empty(t, exchange.Drift([]*exchange.File{was}, []*exchange.File{f}))
				return
			}
			assert.Equal(t, string(want), string(text))
		})
	}
	files, err := exchange.Load(dir)
	require.NoError(t, err)
	for _, f := range files {
		if c, ok := all[filepath.ToSlash(f.Path())]; !ok || !c.filed && f.Source != exchange.Service {
			t.Errorf("%s: no case has it on file", f.Path())
		}
	}
}

// writeExchange writes a new exchange. One that is there changes only if that may be, and never if another
// service is its source: a mistake in how exchanges are made would spoil all of them.
func writeExchange(t *testing.T, name string, text []byte, mayChange bool) {
	t.Helper()
	was, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, text, 0o644))
		return
	}
	require.NoError(t, err)
	f, err := exchange.Decode(was)
	require.NoError(t, err)
	switch {
	case bytes.Equal(was, text), f.Source == exchange.Service:
	case !mayChange:
		t.Errorf("%s is not written: it would change. If that is meant, name it with -rewrite", name)
	default:
		require.NoError(t, os.WriteFile(name, text, 0o644))
	}
}

// Recording adds exchanges. It changes those that it is told to, and none of another service.
func TestRecordingChangesOnlyWhatItIsTold(t *testing.T) {
	for _, row := range []struct {
		source    exchange.Source
		mayChange bool
		want      string
	}{{exchange.Service, true, "was"}, {exchange.Simulated, true, "now"}} {
		name := filepath.Join(t.TempDir(), "new", "200-x.json")
		f := &exchange.File{Shows: "was", Source: row.source}
		text, err := f.Encode()
		require.NoError(t, err)
		writeExchange(t, name, text, false)
		f.Shows, f.Source = "now", exchange.Simulated
		text, err = f.Encode()
		require.NoError(t, err)
		writeExchange(t, name, text, row.mayChange)
		is, err := os.ReadFile(name)
		require.NoError(t, err)
		got, err := exchange.Decode(is)
		require.NoError(t, err)
		assert.Equal(t, row.want, got.Shows)
	}
}

// Two files whose names differ by case alone are one on many disks, and no Go
// module can hold them.
func TestNamesDifferByMoreThanCase(t *testing.T) {
	seen := map[string]string{}
	for path := range cases(t) {
		lower := strings.ToLower(path)
		if other, ok := seen[lower]; ok {
			t.Errorf("%s and %s", path, other)
		}
		seen[lower] = path
		assert.Regexp(t, `^[A-Za-z]+/[1-5]\d\d-[A-Za-z_-]+\.json$`, path)
	}
}

// Nothing of who recorded is left in a file.
func TestNoKeysInFiles(t *testing.T) {
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotRegexp(t, `pk_(test|live)_[A-Za-z0-9]`, string(text), path)
		return err
	})
	require.NoError(t, err)
}

// notRecorded are the documented codes that no exchange shows, each as
// "operation status code" with the reason. There is none: what the simulation has
// no rule for, it is told to answer, and the file says so.
var notRecorded = map[string]string{}

// Each path has an operation here with a success, and an exchange for each
// code that the contract documents of it. Every live write has a replay, and each
// operation that takes a key the headers of the key's own limit.
func TestEveryCodeIsRecorded(t *testing.T) {
	have := map[string]bool{}
	for _, f := range exchanges(t) {
		switch {
		case f.Response.Status < 300:
			have[f.Operation+" success"] = true
		default:
			have[fmt.Sprintf("%s %d %s", f.Operation, f.Response.Status, errorCode(f))] = true
		}
		if f.Response.Header["Idempotent-Replayed"] == "true" {
			have[f.Operation+" replay"] = true
		}
		if f.Response.Header["X-RateLimit-Remaining"] == "0" {
			have[f.Operation+" limit"] = true
		}
	}

	codes, err := documentedCodes()
	require.NoError(t, err)
	for id := range codes {
		has := slices.ContainsFunc(operations(), func(o *operation) bool { return o.id == id })
		assert.True(t, has, "%s has no row in operations_test.go", id)
	}
	for _, o := range operations() {
		want := []string{"success"}
		for _, d := range codes[o.id] {
			want = append(want, fmt.Sprintf("%d %s", d.Status, d.Code))
		}
		if o.liveWrite() {
			want = append(want, "replay")
		}
		if o.id != "getHealth" {
			want = append(want, "limit")
		}
		for _, what := range want {
			name := o.id + " " + what
			_, excused := notRecorded[name]
			assert.NotEqual(t, have[name], excused, "%s: recorded %t, excused %t", name, have[name], excused)
		}
	}
}
