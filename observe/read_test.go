package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// recorded makes an audit, a flight recording and a log of the simulator of a bot that loses some
// replies, and returns their paths.
func recorded(t *testing.T, folder string) (audit, flight, log string) {
	t.Helper()
	audit, flight, log = filepath.Join(folder, "bot.audit"), filepath.Join(folder, "flight.jsonl"), filepath.Join(folder, "sim.log")
	synctest.Test(t, func(t *testing.T) {
		var events bytes.Buffer
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithLog(&events))
		books, err := record.OpenAudit(audit, record.Options{Holder: "user_1"})
		require.NoError(t, err)
		recorder := record.NewFlight(500)
		client := tradingtest.Client(t, sim, trading.WithHooks(books.Hooks()), trading.WithHooks(recorder.Hooks()))
		account := client.Live.Account("acc_1")
		for range 3 {
			sim.Fault("POST /orders", tradingsim.DelayResponse(7*time.Second)) // the attempt times out, and is sent again
			_, err := account.PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")})
			require.NoError(t, err)
			time.Sleep(time.Second)
			_, err = account.Positions(t.Context())
			require.NoError(t, err)
		}
		_, err = account.CancelOrder(t.Context(), "nothing", trading.WithIdempotencyKey("given"))
		require.Error(t, err)
		time.Sleep(time.Second)
		_, err = account.CancelOrder(t.Context(), "nothing", trading.WithIdempotencyKey("given"))
		require.Error(t, err)
		require.NoError(t, client.Close())
		require.NoError(t, books.Close())
		f, err := os.Create(flight)
		require.NoError(t, err)
		require.NoError(t, recorder.Dump(f))
		require.NoError(t, f.Close())
		require.NoError(t, sim.Close())
		require.NoError(t, os.WriteFile(log, events.Bytes(), 0o600))
	})
	return audit, flight, log
}

func TestRead(t *testing.T) {
	folder := t.TempDir()
	audit, flight, log := recorded(t, folder)
	for path, want := range map[string]map[string]profile.Verdict{
		audit:  {"A1": profile.First, "A11": profile.First, "A12": profile.Unseen},
		flight: {"A1": profile.First, "A11": profile.First, "A12": profile.First},
		log:    {"A1": profile.Unseen, "A11": profile.Unseen},
	} {
		e, err := Read(path)
		require.NoError(t, err)
		assert.NotEmpty(t, e.Exchanges, path)
		p := Judge(e, about)
		require.NoError(t, p.Validate())
		for number, verdict := range want {
			r, _ := p.Result(number, profile.Live)
			assert.Equal(t, verdict, r.Verdict, "%s: %s %s", filepath.Base(path), number, r.Why)
		}
		for _, r := range p.Results {
			assert.Contains(t, []profile.Verdict{profile.First, profile.Unseen}, r.Verdict, "%s: %s %s", filepath.Base(path), r.Experiment, r.Why)
		}
	}
	e, err := Read(audit)
	require.NoError(t, err)
	assert.Equal(t, "user_1", e.Holder)
}

// A folder is read whole, what is no evidence is named, and no file counts twice.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	audit, _, _ := recorded(t, folder)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("hello"), 0o600))
	once, err := Read(folder)
	require.NoError(t, err)
	twice, err := Read(folder, audit)
	require.NoError(t, err)
	assert.Len(t, twice.Exchanges, len(once.Exchanges))
	assert.Contains(t, strings.Join(once.Passed, "\n"), "notes.txt")
	_, err = Read(filepath.Join(folder, "notes.txt"))
	require.ErrorContains(t, err, "notes.txt")
	_, err = Read(filepath.Join(folder, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Exchanges that the simulator or a person wrote are no evidence of a service.
func TestRecordedExchanges(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "exchanges", "getMe", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	_, err = Read(files[0])
	require.ErrorContains(t, err, "no service")

	found, _, err := Parse([]byte(`{"source": "service", "request": {"method": "GET", "path": "/accounts"},
		"response": {"status": 200, "header": {"X-RateLimit-Limit": "600"}, "body": {"accounts": [{"id": "a", "createdAt": 1}]}}}`))
	require.NoError(t, err)
	require.Len(t, found, 1)
	e := &Evidence{Exchanges: found}
	p := Judge(e, about)
	for _, number := range []string{"42", "4"} {
		r, _ := p.Result(number, profile.Live)
		assert.Equal(t, profile.Other, r.Verdict, number)
	}
	require.ErrorContains(t, p.Stale(time.Now()), "days ago", "it has no time, so nothing relies on it")
	_, err = p.Encode()
	require.NoError(t, err)
}

// An audit that somebody has changed is no evidence.
func TestAChangedAuditIsRefused(t *testing.T) {
	audit, _, _ := recorded(t, t.TempDir())
	text, err := os.ReadFile(audit)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(audit, bytes.Replace(text, []byte(`"status":404`), []byte(`"status":422`), 1), 0o600))
	_, err = Read(audit)
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"sent":"2026-11-23T12:00:00Z","tookNs":5,"operation":"POST /orders","attempt":1,"key":"k","status":200,"request":{"accountId":"a"},"response":{"position":null}}`))
	f.Add([]byte(`{"event":"answer","request":{"id":1,"at":"2026-11-23T12:00:00Z","operation":"POST /orders","header":{"Idempotency-Key":["k"]},"body":"{}","status":200,"delivered":true}}`))
	f.Add([]byte(`{"source":"service","request":{"method":"GET","path":"/trades?accountId=a"},"response":{"status":200,"body":{"trades":[{"closedAt":1}]}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, holder, err := Parse(content)
		if err != nil {
			return
		}
		e := &Evidence{Exchanges: found, Holder: holder}
		e.sort()
		if p := Judge(e, about); p.Validate() != nil {
			t.Fatal(p.Validate())
		}
	})
}
