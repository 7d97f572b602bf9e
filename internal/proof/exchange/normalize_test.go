package exchange_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/exchange"
)

// Two recordings of one case, at two times, with two keys and of two accounts,
// come to one file; order and identity are still to be seen in it.
func TestNormalize(t *testing.T) {
	recording := func(key, account, trade, first, second, millis, reset string) *exchange.File {
		return &exchange.File{
			Request: exchange.Request{
				Method: "GET", Path: "/accounts/" + account + "/orders",
				Header: map[string]string{"X-API-Key": key, "Idempotency-Key": "0b0d2e0e-5f2c-4d6b-9a54-1f2f3a4b5c6d"},
				Body:   exchange.NewBody([]byte(`{"accountId":"` + account + `","orderId":"77"}`)),
			},
			Response: exchange.Response{
				Status: 200, Header: map[string]string{"X-RateLimit-Reset": reset},
				Body: exchange.NewBody([]byte(`{"accounts":[{"id":"` + account + `","createdAt":"` + second + `","fundedFromAccountId":"x` + account + `"}],` +
					`"trades":[{"id":"` + trade + `","closedAt":"` + first + `"},{"id":"77","openedAt":` + millis + `}],` +
					`"message":"Order 77 of ` + account + `, not 777; ` + key + ` at <b>","size":0.50,"n":1e2}`)),
			},
		}
	}
	a := recording("pk_live_Secret-1", "acc_9", "t/1", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00.5+00:00", "1795200000000", "1795000060")
	b := recording("pk_live_Secret-2", "b7", "t/2", "2027-01-01T00:00:00.000Z", "2027-01-01T01:00:00Z", "1895000000000", "7")
	exchange.Normalize(a, "pk_live_Secret-1")
	exchange.Normalize(b, "pk_live_Secret-2")
	assert.Equal(t, a, b)

	assert.Equal(t, "/accounts/account_1/orders", a.Request.Path)
	assert.Equal(t, map[string]string{"X-API-Key": "pk_live_[redacted]", "Idempotency-Key": "[generated]"}, a.Request.Header)
	assert.Equal(t, `{"accountId":"account_1","orderId":"order_1"}`, string(a.Request.JSON))
	assert.Equal(t, `{"accounts":[{"id":"account_1","createdAt":"2026-01-01T00:00:01.000Z","fundedFromAccountId":"account_2"}],`+
		`"trades":[{"id":"trade_1","closedAt":"2026-01-01T00:00:00.000Z"},{"id":"order_1","openedAt":1767225602000}],`+
		`"message":"Order order_1 of account_1, not 777; pk_live_[redacted] at <b>","size":0.50,"n":1e2}`, string(a.Response.JSON))
	assert.Equal(t, "1767225660", a.Response.Header["X-RateLimit-Reset"])
}

func TestNormalizeQueryAndUnknownKeys(t *testing.T) {
	f := &exchange.File{Request: exchange.Request{
		Path: "/positions", Query: "accountId=a%2Fb", Header: map[string]string{"X-API-Key": "pk_test_other", "Authorization": "Bearer pk_live_mine"},
	}}
	exchange.Normalize(f, "pk_live_mine")
	assert.Equal(t, "accountId=account_1", f.Request.Query)
	assert.Equal(t, map[string]string{"X-API-Key": "pk_test_[unknown]", "Authorization": "Bearer pk_live_[redacted]"}, f.Request.Header)
}

// The path of a write has no id, whatever is below /accounts/.
func TestNormalizeAWriteBelowAccounts(t *testing.T) {
	f := &exchange.File{Request: exchange.Request{Method: "POST", Path: "/accounts/rename", Body: exchange.NewBody([]byte(`{"accountId":"acc_9"}`))}}
	exchange.Normalize(f)
	assert.Equal(t, "/accounts/rename", f.Request.Path)
	assert.Equal(t, `{"accountId":"account_1"}`, string(f.Request.JSON))
}

// A body is kept byte by byte, laid out or not.
func TestBodiesKeepTheirBytes(t *testing.T) {
	for _, body := range []string{
		`{"a":1.50,"b":[1e3,"\u003c<"],"a":null}`, `{ "a": 1 }`, `{"a":`, "", "<html>\n", "{}\n", "null", `"pk"`,
	} {
		f := &exchange.File{Operation: "o", Case: "c", Request: exchange.Request{Header: map[string]string{}}, Response: exchange.Response{
			Header: map[string]string{}, Body: exchange.NewBody([]byte(body)),
		}}
		text, err := f.Encode()
		require.NoError(t, err)
		back, err := exchange.Decode(text)
		require.NoError(t, err)
		assert.Equal(t, body, string(back.Response.Bytes()))
	}
}

// What is misspelt would be ignored, and expect nothing.
func TestDecodeIsStrict(t *testing.T) {
	for _, text := range []string{`{"expects":{}}`, `{} {}`, `[]`, ``, `{"response":{"bodies":1}}`} {
		_, err := exchange.Decode([]byte(text))
		assert.Error(t, err, text)
	}
}

// Normalizing twice changes nothing, leaves JSON what it is, and leaves no key.
func FuzzNormalize(f *testing.F) {
	f.Fuzz(func(t *testing.T, path, query, body, key string) {
		file := &exchange.File{
			Request: exchange.Request{
				Path: path, Query: query, Header: map[string]string{"X-API-Key": key},
				Body: exchange.NewBody([]byte(body)),
			},
			Response: exchange.Response{Header: map[string]string{}, Body: exchange.NewBody([]byte(body))},
		}
		exchange.Normalize(file, key)
		if file.Response.JSON != nil && !json.Valid(file.Response.JSON) {
			t.Fatalf("no JSON any more: %s", file.Response.JSON)
		}
		once := *file
		exchange.Normalize(file, key)
		assert.Equal(t, string(once.Response.Bytes()), string(file.Response.Bytes()))
		assert.Equal(t, string(once.Request.Bytes()), string(file.Request.Bytes()))
		assert.Equal(t, once.Request.Path, file.Request.Path)
		assert.Equal(t, once.Request.Query, file.Request.Query)
		assert.NotRegexp(t, `pk_(test|live)_[A-Za-z0-9]`, string(file.Response.Bytes()))
		assert.NotRegexp(t, `pk_(test|live)_[A-Za-z0-9]`, file.Request.Header["X-API-Key"])
	})
}

// Whatever is taken for a file is written so that it reads as the same again.
func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := exchange.Decode(text)
		if err != nil {
			return
		}
		once, err := file.Encode()
		require.NoError(t, err)
		file, err = exchange.Decode(once)
		require.NoError(t, err)
		again, err := file.Encode()
		require.NoError(t, err)
		assert.Equal(t, string(once), string(again))
	})
}

// A file in the wrong place would be replayed as what it is not.
func TestLoadRefusesMisplacedFiles(t *testing.T) {
	at := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(at, "README.md"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(at, "getMe"), 0o700))
	for _, row := range []struct{ name, text, wrong string }{
		{"200-x.json", `{"operation":"getMe","case":"200-x"}`, ""},
		{"200-x.json", `{"operation":"getMe","case":"200-y"}`, "belongs to"},
		{"200-x.json", `{"operation":"getHealth","case":"200-x"}`, "belongs to"},
		{"200-x.json", `{`, "unexpected EOF"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(at, "getMe", row.name), []byte(row.text), 0o600))
		files, err := exchange.Load(at)
		if row.wrong == "" {
			require.NoError(t, err)
			assert.Len(t, files, 1)
			continue
		}
		assert.ErrorContains(t, err, row.wrong)
	}
}
