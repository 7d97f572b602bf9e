package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// fileBot is a bot on one machine, whose journal is in a file.
type fileBot struct {
	t    *testing.T
	sim  *tradingsim.Sim
	o    Options // of a lease for it
	path string
}

func newFileBot(t *testing.T) *fileBot {
	t.Helper()
	o := options()
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000"), tradingsim.WithAccount(tradingsim.Account{ID: o.Accounts[0], Balance: "1000000"}))
	t.Cleanup(func() { _ = sim.Close() })
	base, err := url.Parse(sim.URL())
	require.NoError(t, err)
	o.BaseURL = journal.Service(base)
	return &fileBot{t, sim, o, filepath.Join(t.TempDir(), "bot.journal")}
}

func (b *fileBot) client(store journal.Store) *trading.Client {
	b.t.Helper()
	client, err := trading.New(b.sim.URL(), trading.WithLiveKey(b.sim.LiveKey()), trading.WithTransport(b.sim.Transport()),
		trading.WithJournal(store), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}), trading.WithRetry(trading.Retry{Attempts: 1}))
	require.NoError(b.t, err)
	return client
}

func (b *fileBot) buy(client *trading.Client, symbol string, opts ...trading.CallOption) (*trading.OrderResult, error) {
	return client.Live.Account(trading.AccountID(b.o.Accounts[0])).PlaceOrder(b.t.Context(),
		trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}, opts...)
}

// lives places three orders and forgets one; then the answers to two more are lost, where something
// is to stay pending.
func (b *fileBot) lives(pending bool) {
	b.t.Helper()
	file, err := journal.Open(b.path)
	require.NoError(b.t, err)
	client := b.client(file)
	for _, id := range []string{"first", "gone", "second"} {
		_, err := b.buy(client, "BTC", trading.WithClientOrderID(id))
		require.NoError(b.t, err)
	}
	require.NoError(b.t, client.ForgetClientOrderID(b.t.Context(), trading.AccountID(b.o.Accounts[0]), trading.OpOrder, "gone"))
	_, err = b.buy(client, "BTC")
	require.NoError(b.t, err)
	if pending {
		b.sim.Fault("POST /orders", tradingsim.DropResponse())
		b.sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err = b.buy(client, "BTC", trading.WithClientOrderID("third"))
		require.Equal(b.t, trading.Unknown, trading.OutcomeOf(err))
		_, err = b.buy(client, "ETH")
		require.Equal(b.t, trading.Unknown, trading.OutcomeOf(err))
		require.NoError(b.t, file.SetGap(true))
	}
	_ = client.Close() // writes may be pending
	require.NoError(b.t, file.Close())
}

// holding is all that a journal says.
type holding struct {
	histories []journal.History
	gap       bool
	quiet     string
}

func holds(t *testing.T, path string) (h holding) {
	t.Helper()
	for history, err := range journal.Read(path) {
		require.NoError(t, err)
		h.histories = append(h.histories, history)
	}
	file, err := journal.Open(path)
	require.NoError(t, err)
	defer file.Close()
	h.gap, err = file.Gap()
	require.NoError(t, err)
	h.quiet = string(file.Quiet())
	return h
}

// A journal moves from a file into the database and back, with all that it says: what is pending with
// each record, what has a name, the order, the gap, and the last record. The next holder knows what
// became of the pending writes, and an order id that was used stays used.
func TestAJournalMovesThereAndBack(t *testing.T) {
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprint("pending ", pending), func(t *testing.T) {
			at, b := database(t), newFileBot(t)
			b.lives(pending)
			before := holds(t, b.path)
			require.Len(t, before.histories, map[bool]int{false: 2, true: 4}[pending])
			require.Equal(t, [2]bool{pending, pending}, [2]bool{before.gap, before.quiet == ""})
			n, err := Import(t.Context(), at, b.o, b.path)
			require.NoError(t, err)
			assert.Len(t, before.histories, n)
			there, err := histories(t.Context(), at, b.o.Name)
			require.NoError(t, err)
			assert.Equal(t, before.histories, there)
			assert.Equal(t, before, holds(t, b.path), "the file stays as it is")

			back := filepath.Join(t.TempDir(), "back.journal")
			n, err = Export(t.Context(), at, b.o.Name, back)
			require.NoError(t, err)
			assert.Len(t, before.histories, n)
			assert.Equal(t, before, holds(t, back))

			s := opened(t, at, b.o)
			reason, halted := s.Halted()
			assert.True(t, halted, "it is in a file now")
			assert.Contains(t, reason, "exported to")
			gap, err := s.Gap()
			require.NoError(t, err)
			assert.Equal(t, before, holding{there, gap, string(s.Quiet())})
			require.NoError(t, Resume(t.Context(), at, b.o.Name))
			require.NoError(t, s.SetGap(gap), "which reads that")
			client := b.client(s)
			defer client.Close()
			resolutions, err := client.Recover(t.Context())
			require.NoError(t, err)
			assert.Len(t, resolutions, map[bool]int{false: 0, true: 2}[pending])
			for _, r := range resolutions {
				assert.Equal(t, r.Intent.ClientOrderID == "third", r.Outcome == trading.Applied, r.Intent.Symbol)
			}
			executed := len(b.sim.Ledger())
			_, err = b.buy(client, "BTC", trading.WithClientOrderID("first"))
			require.NoError(t, err)
			assert.Len(t, b.sim.Ledger(), executed, "it was placed before")
			_, err = b.buy(client, "ETH")
			require.NoError(t, err)
		})
	}
}

// What is not a journal of the lease's, and a lease that is not free, is refused, and changes nothing.
func TestImportRefuses(t *testing.T) {
	at, b := database(t), newFileBot(t)
	b.lives(true)
	refuses := func(want error, says string, change func(o *Options), path string) {
		t.Helper()
		o := b.o
		if change != nil {
			change(&o)
		}
		_, err := Import(t.Context(), at, o, path)
		if want != nil {
			require.ErrorIs(t, err, want)
		}
		require.ErrorContains(t, err, says)
		count := 0
		conn, err := connect(t.Context(), at)
		require.NoError(t, err)
		defer conn.close()
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM trading.record`).Scan(&count))
		require.Zero(t, count)
	}
	none := filepath.Join(t.TempDir(), "none")
	refuses(fs.ErrNotExist, "none", nil, none)
	require.NoFileExists(t, none)
	refuses(nil, "Options.Name", func(o *Options) { o.Name = "" }, b.path)
	refuses(nil, `of account "`, func(o *Options) { o.Accounts = []string{"another"} }, b.path)
	refuses(nil, "of the service at", func(o *Options) { o.BaseURL = service }, b.path)
	file, err := journal.Open(b.path)
	require.NoError(t, err)
	refuses(journal.ErrLocked, "", nil, b.path)
	require.NoError(t, file.Close())

	whole, err := os.ReadFile(b.path)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "cut")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)/16], 0o600))
	broken := (*journal.DamageError)(nil)
	_, err = Import(t.Context(), at, b.o, cut)
	require.ErrorAs(t, err, &broken)
	require.NoError(t, os.WriteFile(cut, append(whole[:len(whole)-8:len(whole)-8], "a tear.."...), 0o600))
	refuses(ErrTorn, "not durable", nil, cut)

	held := opened(t, at, b.o)
	refuses(ErrHeld, "", nil, b.path)
	require.NoError(t, held.Close())
	execute(t, at, "UPDATE trading.lease SET released = false") // its holder died
	refuses(ErrHeld, "", nil, b.path)
	execute(t, at, "UPDATE trading.lease SET released = true")

	// Who was about to take the lease when the journal came takes it with the journal.
	checked, err := b.o.checked()
	require.NoError(t, err)
	c := candidate{Options: checked, url: at, clock: now, wrong: &trouble{log: checked.Logger}}
	require.NoError(t, c.prepare(t.Context()))
	defer c.conn.close()
	seen, err := c.read()
	require.NoError(t, err)
	_, err = Import(t.Context(), at, b.o, cut)
	require.NoError(t, err, "the second time, without what was torn")
	h, err := c.take(seen)
	require.NoError(t, err)
	require.Nil(t, h)
	_, err = Import(t.Context(), at, b.o, b.path)
	require.ErrorIs(t, err, ErrNotEmpty)
	other := b.o
	other.Name = "another"
	_, err = Import(t.Context(), at, other, b.path)
	require.ErrorIs(t, err, ErrAccount)
	execute(t, at, "DELETE FROM trading.record; DELETE FROM trading.account; DELETE FROM trading.lease")
	_, err = Import(t.Context(), at, b.o, b.path)
	require.NoError(t, err, "as the guide says")
	_, err = Import(t.Context(), "postgres://nowhere.invalid/", b.o, b.path)
	require.Error(t, err)
}

// A journal that somebody holds, or that may lack records, does not go into a file; nor over one that is there.
func TestExportRefuses(t *testing.T) {
	at, o, path := database(t), options(), filepath.Join(t.TempDir(), "bot.journal")
	refuses := func(at string, want error, says string) {
		t.Helper()
		_, err := Export(t.Context(), at, o.Name, path)
		if want != nil {
			require.ErrorIs(t, err, want)
		}
		require.ErrorContains(t, err, says)
	}
	refuses(at, ErrNoLease, o.Name)
	s := opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	refuses(at, ErrHeld, o.Name)
	_, halted := s.Halted()
	assert.False(t, halted, "and nothing is halted")
	require.NoError(t, s.Close())
	name := fmt.Sprint("bot", leases.Add(1))
	execute(t, at, "CREATE ROLE "+name+" LOGIN; "+Grants(name))
	as, err := url.Parse(at)
	require.NoError(t, err)
	as.User = url.User(name)
	refuses(as.String(), nil, "permission denied")
	execute(t, at, "UPDATE trading.lease SET lost_at = now()")
	refuses(at, journal.ErrLostHistory, "failed over")
	execute(t, at, "UPDATE trading.lease SET lost_at = now() - interval '25 hours'")
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	refuses(at, fs.ErrExist, path)
	require.NoError(t, os.Remove(path))
	n, err := Export(t.Context(), at, o.Name, path)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, []journal.History{{Intent: "intent 1", Records: [][]byte{[]byte("x")}}}, holds(t, path).histories)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = Export(ctx, "postgres://nowhere.invalid/", o.Name, path+"2")
	require.Error(t, err)
}
