package protect

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// ask asks from outside, with ten seconds of patience.
func (r *rig) ask(id trading.AccountID, kind RequestKind) (Status, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	return Ask(ctx, r.dir, Request{Account: id, Kind: kind, Reason: "a test"})
}

func (r *rig) asked() int {
	r.t.Helper()
	names, err := requests(r.dir, acc)
	require.NoError(r.t, err)
	return len(names)
}

// TestAsk: an operator in another process halts, resumes and flattens, and both a bot that
// carries the guard and one that follows obey.
func TestAsk(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		follows := connect(t, r.sim, trading.WithGuard(Follow(r.dir))).Live.Account(acc)
		both := func(want error) {
			t.Helper()
			require.ErrorIs(t, r.buy("0.1"), want)
			_, err := follows.PlaceOrder(t.Context(), order(trading.Long, "0.1", "BTC"))
			require.ErrorIs(t, err, want)
		}
		both(nil)
		s, err := r.ask(acc, RequestHalt)
		require.NoError(t, err)
		require.Equal(t, SoftHalt, s.State)
		require.Equal(t, "halted: a test", s.Reason)
		require.Equal(t, "soft halt: halted: a test", s.Refusal)
		both(ErrHalted)
		require.False(t, r.flat())

		_, err = r.ask(acc, RequestResume)
		require.NoError(t, err)
		r.wait(5 * time.Second)
		both(nil)

		s, err = r.ask(acc, RequestFlatten)
		require.NoError(t, err)
		require.Contains(t, []State{Flattening, Held}, s.State)
		r.wait(20 * time.Second)
		require.True(t, r.flat())
		require.Equal(t, Held, r.state().State)
		both(ErrHalted)
		require.Zero(t, r.asked())
	})
}

// TestAskNobody: where no protection runs a halt binds who follows, and the next
// protection begins with it. A resume and a flatten are withdrawn.
func TestAskNobody(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.stop()
		for _, kind := range []RequestKind{RequestResume, RequestFlatten} {
			_, err := r.ask(acc, kind)
			require.ErrorIs(t, err, ErrNotRunning)
			require.Zero(t, r.asked())
		}
		_, err := r.ask(acc, RequestHalt)
		require.ErrorIs(t, err, ErrNotRunning)
		require.Equal(t, 1, r.asked())
		r.wait(24 * time.Hour)
		r.start(nil)
		require.True(t, r.state().Manual)
		require.Equal(t, SoftHalt, r.state().State)
		require.Zero(t, r.asked())
	})
}

// TestAskWhoFollows: a request that is not taken up yet binds by itself, whatever the
// state says.
func TestAskWhoFollows(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		guard := Follow(r.dir)
		entry := trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Account: acc, Entry: true}
		other := entry
		other.Account = "acc_1.x"
		require.NoError(t, guard(t.Context(), entry))
		for _, kind := range inTurn {
			path, err := send(r.dir, Request{Account: acc, Kind: kind})
			require.NoError(t, err)
			require.ErrorContains(t, guard(t.Context(), entry), "has not taken up")
			require.ErrorContains(t, guard(t.Context(), other), "not protected here", "it is about another account")
			require.NoError(t, os.Remove(path))
		}
		require.NoError(t, guard(t.Context(), entry))
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, "acc_1.x.halt"), nil, 0o600))
		require.ErrorContains(t, guard(t.Context(), entry), "has not taken up", "an empty file halts")
	})
}

// TestAskRefused: what a state does not allow is not done, and said.
func TestAskRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.sim.SetStatus("acc_1", "FAILED")
		r.wait(40 * time.Second)
		require.Equal(t, Lost, r.state().State)
		for _, kind := range []RequestKind{RequestResume, RequestFlatten} {
			_, err := r.ask(acc, kind)
			require.ErrorIs(t, err, ErrRefused)
			require.ErrorContains(t, err, "lost")
		}
		require.Len(t, r.kinds(Alert), 2)
		_, err := r.ask("acc_9", RequestHalt)
		require.ErrorIs(t, err, ErrUnknownAccount)
		names, err := requests(r.dir, "acc_9")
		require.NoError(t, err)
		require.Empty(t, names)
		for _, wrong := range []Request{{Kind: RequestHalt}, {Account: acc}, {Account: acc, Kind: "stop"}} {
			_, err := Ask(t.Context(), r.dir, wrong)
			require.ErrorContains(t, err, "want an account")
		}
		_, err = Ask(t.Context(), filepath.Join(r.dir, "none"), Request{Account: acc, Kind: RequestHalt})
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NoDirExists(t, filepath.Join(r.dir, "none"))
	})
}

// TestAskAtOnce: a halt outlasts a resume of the same second, in whatever order they came.
func TestAskAtOnce(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		for _, kind := range []RequestKind{RequestHalt, RequestResume} {
			_, err := send(r.dir, Request{Account: acc, Kind: kind})
			require.NoError(t, err)
		}
		r.wait(2 * time.Second)
		require.True(t, r.state().Manual)
		require.Zero(t, r.asked())
	})
}

// TestAskTooOld: a resume or a flatten that nobody took up in a minute is not done, and a
// clock that was set back makes neither younger. A halt is never too old.
func TestAskTooOld(t *testing.T) {
	for _, age := range []time.Duration{61 * time.Second, -61 * time.Second} {
		for _, kind := range inTurn {
			bubble(t, nil, func(t *testing.T, r *rig) {
				require.NoError(t, r.p.Halt(acc, "before"))
				r.stop()
				now := r.p.now
				path, err := send(r.dir, Request{Account: acc, Kind: kind, Reason: "old"})
				require.NoError(t, err)
				p, err := newProtection(Options{Client: r.client, Accounts: []trading.AccountID{acc}, Dir: r.dir}, func() instant {
					i := now()
					i.wall = i.wall.Add(age)
					return i
				})
				require.NoError(t, err)
				w := p.watchers[acc]
				p.takeRequests()
				require.NoFileExists(t, path)
				require.True(t, w.record.Manual)
				require.Equal(t, SoftHalt, w.record.State)
				want := "halted: before"
				if kind == RequestHalt {
					want = "halted: old"
				}
				require.Equal(t, want, w.record.Reason)
				require.NoError(t, p.Close())
			})
		}
	}
}

// TestAskedInEachState: a halt holds up no flattening, an account that has ended is not flattened, and what ends by
// itself is not resumed.
func TestAskedInEachState(t *testing.T) {
	const refused State = ""
	for was, asked := range map[State][3]State{ // a halt, a flattening, a resume
		Starting:   {SoftHalt, Flattening, Starting},
		OK:         {SoftHalt, Flattening, Starting},
		Warned:     {SoftHalt, Flattening, Starting},
		SoftHalt:   {SoftHalt, Flattening, Starting},
		Flattening: {Flattening, Flattening, refused},
		Stuck:      {Stuck, Flattening, refused},
		Held:       {Held, Flattening, Starting},
		TooLate:    {TooLate, Flattening, Starting},
		Lost:       {Lost, refused, refused},
		Passed:     {Passed, refused, refused},
	} {
		for i, kind := range []RequestKind{RequestHalt, RequestFlatten, RequestResume} {
			r := record{State: was, Reason: "before"}
			err := r.ask(kind, "a test")
			if asked[i] == refused {
				require.Error(t, err, "%s: %s", was, kind)
				require.Equal(t, record{State: was, Reason: "before"}, r)
				continue
			}
			require.NoError(t, err, "%s: %s", was, kind)
			require.Equal(t, asked[i], r.State, "%s: %s", was, kind)
			require.Equal(t, kind != RequestResume, r.Manual, "%s: %s", was, kind)
		}
	}
}

// TestCorruptRequestHalts: whatever byte of a request is lost or changed, and whatever it
// asked for, the account is halted.
func TestCorruptRequestHalts(t *testing.T) {
	dir := t.TempDir()
	path, err := send(dir, Request{Account: acc, Kind: RequestResume})
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = decodeRequest(data, acc, RequestResume)
	require.NoError(t, err)
	eachDamage(data, func(text []byte) {
		_, err := decodeRequest(text, acc, RequestResume)
		require.Error(t, err, "%q", text)
	})
	for what, name := range map[string]string{
		"cut":                "acc_1.a.resume",
		"of another kind":    "acc_1.a.flatten",
		"of another account": "acc_1.a.resume",
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, r *rig) {
				text := data
				switch what {
				case "cut":
					text = data[:len(data)-2]
				case "of another account":
					other, err := send(t.TempDir(), Request{Account: "acc_2", Kind: RequestResume})
					require.NoError(t, err)
					text, err = os.ReadFile(other)
					require.NoError(t, err)
				}
				require.NoError(t, os.WriteFile(filepath.Join(r.dir, name), text, 0o600))
				r.wait(2 * time.Second)
				require.True(t, r.state().Manual)
				require.Equal(t, "halted: a request is corrupt", r.state().Reason)
				require.ErrorIs(t, r.buy("0.1"), ErrHalted)
				require.NotEmpty(t, r.kinds(Alert))
				require.Zero(t, r.asked())
				_, err := r.ask(acc, RequestResume)
				require.NoError(t, err, "a person ends it")
			})
		})
	}
}

// TestRequestThatStays: what cannot be removed is done once, and binds who follows.
func TestRequestThatStays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		path := filepath.Join(r.dir, "acc_1.a.halt")
		require.NoError(t, os.MkdirAll(filepath.Join(path, "in it"), 0o700)) // neither a file nor empty
		r.wait(2 * time.Second)
		require.True(t, r.state().Manual)
		told := len(r.kinds(Alert))
		require.NoError(t, r.p.Resume(acc))
		r.wait(time.Minute)
		require.False(t, r.state().Manual)
		require.Len(t, r.kinds(Alert), told)
		require.NoError(t, os.RemoveAll(path))
		r.wait(2 * time.Second)
		require.Zero(t, r.asked())
	})
}

// TestReadStatus of what there is, what is damaged, and what there is not.
func TestReadStatus(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		s, err := ReadStatus(r.dir, acc)
		require.NoError(t, err)
		require.Equal(t, OK, s.State)
		require.True(t, s.Entries)
		_, err = ReadStatus(r.dir, "other")
		require.ErrorIs(t, err, ErrUnknownAccount)
		require.NoError(t, os.WriteFile(fileOf(r.dir, "other"), []byte("?"), 0o600))
		_, err = ReadStatus(r.dir, "other")
		require.ErrorIs(t, err, ErrCorrupt)
	})
}

// FuzzDecodeRequest: no file panics, and what is read is about its account.
func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"Account":"acc_1","Kind":"halt","Reason":"a test","At":"2026-11-22T17:00:00Z"}`))
	f.Add([]byte(`{"Account":"acc_1","Kind":"resume"}`))
	f.Add([]byte("null"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, seal(data)} {
			if r, err := decodeRequest(text, acc, RequestHalt); err == nil {
				require.Equal(t, acc, r.Account)
				require.Equal(t, RequestHalt, r.Kind)
			}
		}
	})
}

// TestWhatWasAskedForIsDone: a request that was taken up is done once the state shows it.
func TestWhatWasAskedForIsDone(t *testing.T) {
	for _, kind := range []RequestKind{RequestHalt, RequestFlatten, RequestResume} {
		for _, manual := range []bool{false, true} {
			for _, state := range []State{OK, Held, Flattening, Stuck, Lost} {
				flat := state == Flattening || state == Stuck || state == Held
				want := map[RequestKind]bool{RequestHalt: manual, RequestFlatten: manual && flat, RequestResume: !manual && state == OK}[kind]
				err := Request{Kind: kind}.judge(Status{Manual: manual, State: state})
				require.Equal(t, want, err == nil, "%s, %s, manual %t", kind, state, manual)
			}
		}
	}
}
