package resolve

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// In any minute there are so many looks for entries, and no more.
func TestLooksInAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		d := client(t, s)
		look := func(most int) {
			d.share(books.AccountKey{ID: "acc_1"}, AllLists, most)
			synctest.Wait()
		}
		began := func() int { return len(s.asked) }
		look(0)
		assert.Zero(t, began())
		for range 3 {
			look(2)
		}
		assert.Equal(t, 2, began())
		time.Sleep(time.Minute - time.Nanosecond)
		look(2)
		assert.Equal(t, 2, began(), "the first is not a minute ago")
		time.Sleep(time.Nanosecond)
		look(2)
		look(2)
		assert.Equal(t, 4, began())
	})
}

// A refusal is kept as long as it is not too long, and is JSON.
func TestRefusalsThatAreKept(t *testing.T) {
	body := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	for name, row := range map[string]struct {
		body []byte
		want bool
	}{
		"short": {body(10), true}, "the longest": {body(maxRefused), true}, "too long": {body(maxRefused + 1), false}, "no JSON": {[]byte("{"), false},
	} {
		r := refusedBy(&Response{Answer: ledger.Answer{Status: 400}, Body: row.body})
		assert.Equal(t, row.want, r != nil, name)
		if r != nil {
			assert.Equal(t, 400, r.Status)
			assert.Equal(t, json.RawMessage(row.body), r.Body)
		}
	}
}

// A code is shown if it looks like one.
func TestCodesThatAreShown(t *testing.T) {
	for _, text := range []string{"A", "Z", "a", "z", "_", "MIN_NOTIONAL", ""} {
		assert.Equal(t, text, code(text))
	}
	for _, text := range []string{"@", "[", "`", "{", "1", " ", "a b", "a\n"} {
		assert.Equal(t, "an unknown code", code(text), "%q", text)
	}
}

// A call sends again what the ledger sends, and nothing else.
func TestWhetherACallSendsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempts, want := range map[int]bool{1: false, 2: true} {
			d := client(t, &service{}, foreground)
			w := newWrite(d, "w_1", order, func(w *OpenWrite) { w.Ledger.Retry.Attempts = attempts })
			d.Own(w, "")
			require.NoError(t, d.Before(t.Context(), w, false))
			d.SendBegins(w)
			d.Heard(w, time.Now(), silence, false)
			_, _, more := d.NextSend(w)
			assert.Equal(t, want, more, "%d attempts", attempts)
		}
	})
}
