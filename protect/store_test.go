package protect

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// kill leaves the folder as a process that is killed now leaves it, and opens it anew.
func (r *rig) kill(change func(*Options)) {
	r.t.Helper()
	before := r.state().State
	data, err := os.ReadFile(fileOf(r.dir, acc))
	require.NoError(r.t, err)
	r.stop()
	require.NoError(r.t, os.WriteFile(fileOf(r.dir, acc), data, 0o600))
	left, err := load(r.dir, acc, trusted)
	require.NoError(r.t, err)
	require.Equal(r.t, before, left.State, "it is on the disk before it is acted on")
	r.start(change)
	r.bot = r.carry()
	r.acc = r.bot.Live.Account(acc)
}

// TestKilledInEachState: a process that is killed goes on where it was.
func TestKilledInEachState(t *testing.T) {
	for _, s := range []struct {
		state State
		bring func(r *rig)
		after State
		flat  bool
	}{
		{OK, func(r *rig) { require.NoError(r.t, r.buy("1")) }, OK, false},
		{Warned, func(r *rig) { require.NoError(r.t, r.buy("4")); r.fall(49400) }, Warned, false},
		{SoftHalt, func(r *rig) { require.NoError(r.t, r.p.Halt(acc, "a test")) }, SoftHalt, true},
		{Flattening, func(r *rig) {
			require.NoError(r.t, r.buy("1"))
			r.wait(10 * time.Second)
			r.sim.Fault("POST /positions/close", tradingsim.DropRequest(), tradingsim.DropRequest(), tradingsim.DropRequest())
			require.NoError(r.t, r.p.Flatten(acc, "a test"))
		}, Held, true},
		{Stuck, func(r *rig) {
			require.NoError(r.t, r.buy("1"))
			r.sim.SetFillError("BTC", "NO_PRICE")
			require.NoError(r.t, r.p.Flatten(acc, "a test"))
			r.wait(2 * time.Minute)
			r.sim.SetFillError("BTC", "")
		}, Held, true},
		{Held, func(r *rig) { require.NoError(r.t, r.p.Flatten(acc, "a test")); r.wait(20 * time.Second) }, Held, true},
		{TooLate, func(r *rig) {
			require.NoError(r.t, r.buy("4"))
			r.wait(10 * time.Second)
			for i := range 10 {
				r.set(itoa(48784 + i%2))
				r.wait(time.Second)
			}
		}, TooLate, false},
		{Passed, func(r *rig) { r.sim.SetStatus("acc_1", "PASSED"); r.wait(40 * time.Second) }, Passed, true},
		{Lost, func(r *rig) { r.sim.SetStatus("acc_1", "FAILED"); r.wait(40 * time.Second) }, Lost, true},
	} {
		t.Run(string(s.state), func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				s.bring(r)
				require.Equal(t, s.state, r.state().State, "%s", r.state().Reason)
				r.kill(nil)
				r.wait(20 * time.Second)
				require.Equal(t, s.after, r.state().State, "%s", r.state().Reason)
				require.Equal(t, s.flat, r.flat())
			})
		})
	}
}

// eachDamage cuts a text at each byte, and changes each.
func eachDamage(text []byte, try func([]byte)) {
	for i := range text {
		try(text[:i])
		changed := slices.Clone(text)
		changed[i] ^= 1
		try(changed)
	}
}

// TestStartsWhereItWas: what was held or halted is, and what was fine is not believed before somebody has looked.
func TestStartsWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		defer sim.Close()
		client, dir := connect(t, sim), t.TempDir()
		for was, is := range map[State]State{OK: Starting, Warned: Starting, Flattening: Flattening, Held: Held, SoftHalt: SoftHalt} {
			s, err := openStore(dir)
			require.NoError(t, err)
			require.NoError(t, s.save(&record{Account: acc, State: was}, true))
			require.NoError(t, s.close())
			p, err := New(Options{Client: client, Accounts: []trading.AccountID{acc}, Dir: dir})
			require.NoError(t, err)
			state, err := p.State(acc)
			require.NoError(t, err)
			require.Equal(t, is, state.State, "%s", was)
			require.NoError(t, p.Close())
		}
	})
}

// TestCorruptMeansHalted: whatever byte of the state is lost or changed, no entry is
// taken until a person resumes, and the account is watched all the same.
func TestCorruptMeansHalted(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(dir)
	require.NoError(t, err)
	whole := record{Account: acc, State: OK, Reason: "fine"}
	require.NoError(t, s.save(&whole, true))
	require.NoError(t, s.close())
	data, err := os.ReadFile(fileOf(dir, acc))
	require.NoError(t, err)
	_, err = decode(data)
	require.NoError(t, err)
	eachDamage(data, func(text []byte) {
		_, err := decode(text)
		require.Error(t, err, "%q", text)
	})

	bubble(t, nil, func(t *testing.T, r *rig) {
		r.stop()
		require.NoError(t, os.WriteFile(fileOf(r.dir, acc), data[:len(data)-2], 0o600))
		r.start(nil)
		r.acc = r.carry().Live.Account(acc)
		r.wait(2 * time.Minute)
		require.Equal(t, SoftHalt, r.state().State)
		require.True(t, r.state().Manual)
		require.ErrorContains(t, r.buy("0.1"), "corrupt")
		require.NoError(t, r.p.Resume(acc))
		r.wait(5 * time.Second)
		require.NoError(t, r.buy("0.1"))
	})
}

// TestStateCannotBeWritten: a disk that fails refuses entries, and keeps nothing from
// being flattened.
func TestStateCannotBeWritten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("1"))
		require.NoError(t, os.RemoveAll(r.dir))
		require.Error(t, r.p.Flatten(acc, "a test"))
		r.wait(30 * time.Second)
		require.True(t, r.flat())
		require.False(t, r.state().Entries)
		require.NotEmpty(t, r.kinds(Alert))
	})
}

// TestOneProtectionAFolder.
func TestOneProtectionAFolder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		_, err := New(Options{Client: r.client, Accounts: []trading.AccountID{acc}, Dir: r.dir})
		require.ErrorIs(t, err, ErrLocked)
	})
}

// TestFollow: another program obeys the halts, and refuses entries where no protection
// runs, or its state cannot be read.
func TestFollow(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		other := connect(t, r.sim, trading.WithGuard(Follow(r.dir))).Live.Account(acc)
		buy := func() error {
			_, err := other.PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
			return err
		}
		r.wait(3 * time.Hour)
		require.NoError(t, buy())
		require.NoError(t, r.p.Halt(acc, "a test"))
		require.ErrorIs(t, buy(), ErrHalted)
		_, err := other.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err, "exits pass")
		require.NoError(t, r.p.Resume(acc))
		r.wait(2 * time.Second)
		require.NoError(t, buy())
		r.stop()
		require.ErrorContains(t, buy(), "does not run: it has stopped")
		require.NoError(t, os.WriteFile(fileOf(r.dir, acc), []byte("?"), 0o600))
		require.ErrorIs(t, buy(), ErrCorrupt)
		require.NoError(t, os.Remove(fileOf(r.dir, acc)))
		require.ErrorIs(t, buy(), ErrHalted)
	})
}

// TestFollowHearsOfADeath: a protection that was killed is not obeyed for long.
func TestFollowHearsOfADeath(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		data, err := os.ReadFile(fileOf(r.dir, acc))
		require.NoError(t, err)
		r.stop()
		require.NoError(t, os.WriteFile(fileOf(r.dir, acc), data, 0o600))
		guard := Follow(r.dir)
		entry := trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Account: acc, Entry: true}
		require.NoError(t, guard(t.Context(), entry))
		r.wait(61 * time.Second)
		require.ErrorContains(t, guard(t.Context(), entry), "last sign of life")
	})
}

// TestFileOfAnyAccount: an id cannot leave the folder.
func TestFileOfAnyAccount(t *testing.T) {
	for _, id := range []trading.AccountID{"..", "a/../../b", `a\b`, ".", "lock"} {
		require.Equal(t, "dir", filepath.Dir(fileOf("dir", id)), id)
		require.NotEqual(t, filepath.Join("dir", "lock"), fileOf("dir", id))
	}
}

// FuzzDecode: no file panics, and what is read can be written and read again.
func FuzzDecode(f *testing.F) {
	dir := f.TempDir()
	s, err := openStore(dir)
	require.NoError(f, err)
	require.NoError(f, s.save(&record{Account: acc, State: Held, Floors: floors{Daily: trading.Some(dec("95000"))}, Reserved: []kept{
		{Symbol: "BTC", Side: trading.Long, Size: dec("1"), Price: trading.Some(dec("49000")), Stop: trading.At(dec("48000")), ID: "run_1", Known: true},
	}}, false))
	require.NoError(f, s.close())
	data, err := os.ReadFile(fileOf(dir, acc))
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte("\n\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decode(data); err == nil {
			require.True(t, r.State.known())
		}
		// The checksum keeps nearly everything out: what is behind it has to hold too.
		r, err := decode(append([]byte(checksum(data)+"\n"), append(data, '\n')...))
		if err == nil {
			require.True(t, r.State.known())
		}
	})
}

const killDir = "PROTECT_TEST_KILL_DIR"

// TestKillWhileWriting kills a process that writes its state again and again. Whatever
// moment that is, the state is one that it has written, whole, and no older than the last
// one that it told.
func TestKillWhileWriting(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		writeForEver(dir)
		return
	}
	for round := range 5 {
		dir := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillWhileWriting$")
		child.Env = append(os.Environ(), killDir+"="+dir)
		pipe, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(pipe)
		told := 0
		for range 10 + 7*round {
			require.True(t, lines.Scan())
			_, err := fmt.Sscan(lines.Text(), &told)
			require.NoError(t, err)
		}
		require.NoError(t, child.Process.Kill())
		for lines.Scan() { // what it told before it died
			_, _ = fmt.Sscan(lines.Text(), &told)
		}
		_ = child.Wait() // it was killed
		r, err := load(dir, acc, trusted)
		require.NoError(t, err)
		require.GreaterOrEqual(t, r.Again, told)
		s, err := openStore(dir) // the lock died with it
		require.NoError(t, err)
		require.NoError(t, s.close())
	}
}

func writeForEver(dir string) {
	s, err := openStore(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; ; n++ {
		if err := s.save(&record{Account: acc, State: Flattening, Again: n}, true); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n)
	}
}

// TestARunSurvivesAKill: the guard still counts what a run may do that it has let pass, and judges
// what comes beside it.
func TestARunSurvivesAKill(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		_, err := r.acc.PlacePro(t.Context(), order(trading.Long, "3", "BTC"), trading.TWAP{Duration: time.Hour})
		require.NoError(t, err)
		r.kill(nil)
		for range 2 { // before what was answered can be seen, and after
			require.ErrorIs(t, r.buy("3"), ErrRoom)
			r.wait(20 * time.Second)
		}
		require.NoError(t, r.buy("0.1"))
		require.Equal(t, 2, r.state().Reserved)
	})
}

// TestWhatWasAnsweredSurvivesAKill until a look must show it: a read may lag, and shows neither what
// was opened a moment ago nor what was closed.
func TestWhatWasAnsweredSurvivesAKill(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("2"))
		r.kill(nil)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		r.wait(20 * time.Second)
		require.Equal(t, 0, r.state().Reserved)

		r.close()
		r.kill(nil)
		_, err := r.acc.PlaceOrder(t.Context(), order(trading.Short, "5", "BTC"))
		require.ErrorIs(t, err, ErrRoom, "it opens, and does not reduce")
		r.wait(20 * time.Second)
		require.NoError(t, r.buy("2"))
	}, tradingsim.WithLag(4*time.Second))
}

// TestWhatWasInDoubtSurvivesAKill, once, whether or not it is adopted.
func TestWhatWasInDoubtSurvivesAKill(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		writes := journal.NewMemory()
		carry := func() {
			r.bot = r.carry(trading.WithJournal(writes), trading.WithResolveTimeout(0), trading.WithSendTTL(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
				trading.WithHealthGate(trading.HealthGate{Off: true}))
			r.acc = r.bot.Live.Account(acc)
		}
		carry()
		r.sim.Fault("POST /orders/limit", tradingsim.DropRequest())
		limit := bid("3", "49000")
		_, err := r.acc.PlaceLimit(t.Context(), limit)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		_ = r.bot.Close() // with a pending write
		r.kill(nil)
		carry()
		left, err := r.bot.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.ErrorIs(t, other(r).buy("3"), ErrRoom)
		require.NoError(t, r.p.Adopt(left...))
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, other(r).buy("3"), ErrRoom)
		found, err := r.bot.ResolveID(t.Context(), left[0].ID)
		require.NoError(t, err)
		require.Equal(t, trading.NotApplied, found.Outcome)
		r.wait(time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, other(r).buy("3"))
	})
}

// TestADoubtEndsOverRestarts: a write whose outcome nobody finds out counts for 45 minutes, however often the
// protection is started meanwhile, whether or not it is adopted and its request can be read.
func TestADoubtEndsOverRestarts(t *testing.T) {
	for name, change := range map[string]func([]trading.PendingWrite) []trading.PendingWrite{
		"not adopted":         nil,
		"adopted":             func(left []trading.PendingWrite) []trading.PendingWrite { return left },
		"adopted, not judged": func(left []trading.PendingWrite) []trading.PendingWrite { left[0].Body = []byte("{"); return left },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				bot := r.carry(trading.WithJournal(journal.NewMemory()), trading.WithResolveTimeout(0), trading.WithSendTTL(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
				r.sim.Fault("POST /orders", tradingsim.DropRequest())
				_, err := bot.Live.Account(acc).PlaceOrder(t.Context(), order(trading.Long, "3", "BTC"))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				for range 2 {
					require.Error(t, other(r).buy("3"))
					r.wait(40 * time.Minute)
					r.kill(nil)
					if change != nil {
						left, err := bot.Pending(t.Context())
						require.NoError(t, err)
						require.Len(t, left, 1)
						_ = r.p.Adopt(change(left)...)
					}
				}
				r.wait(40 * time.Second) // until the next look
				require.NoError(t, other(r).buy("3"))
			})
		})
	}
}

// other is a bot beside, which has no journal.
func other(r *rig) *rig { return &rig{t: r.t, sim: r.sim, acc: r.carry().Live.Account(acc)} }

// TestWhatIsNotPendingEnds: what an earlier run let pass, and no journal knows, was never sent.
func TestWhatIsNotPendingEnds(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		w := r.p.watchers[acc]
		w.mu.Lock()
		w.reserved.Add(may(trading.Long, "3", "BTC", "49000"))
		require.NoError(t, w.keepReserved(true))
		w.mu.Unlock()
		r.kill(nil)
		require.Equal(t, 1, r.state().Reserved)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		r.wait(20 * time.Minute)
		require.ErrorIs(t, r.buy("3"), ErrRoom)
		require.NoError(t, r.p.Adopt())
		r.wait(10 * time.Second)
		require.Equal(t, 0, r.state().Reserved)
		require.NoError(t, r.buy("3"))
	})
}

// TestWhatIsNotKeptIsRefused: an entry that a start would not know of is not sent; exits pass.
func TestWhatIsNotKeptIsRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		require.NoError(t, r.buy("0.1"))
		r.wait(10 * time.Second)
		require.NoError(t, os.Rename(r.dir, r.dir+".away"))
		require.ErrorIs(t, r.buy("0.1"), ErrNotJudged)
		r.close()
		require.NoError(t, os.Rename(r.dir+".away", r.dir))
		r.wait(30 * time.Second)
		require.NoError(t, r.buy("0.1"))
		require.Len(t, r.sim.Ledger(), 3)
	})
}
