package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
)

var midnight = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

func amount(text string) cli.Amount { return cli.AmountOf(trading.Dec(text)) }

// night is a status in which nearly everything is wrong.
func night() statusView {
	account := func(id trading.AccountID, equity, floor, target string, positions ...trading.Position) accountView {
		a := accountView{ReadAt: midnight}
		a.setState(&trading.AccountState{
			ID: id, Environment: trading.EnvLive, Status: trading.StatusActive, Balance: trading.Dec("100000"), Equity: trading.Dec(equity),
			DailyLossFloor: trading.Some(trading.Dec(floor)), GlobalLossFloor: trading.Some(trading.Dec("90000")), ProfitTarget: trading.Some(trading.Dec(target)),
			Phase: trading.Some(1),
		})
		a.setPositions(positions)
		return a
	}
	first := account("acc_1", "95812.4", "95000", "110000",
		trading.Position{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1.5"), EntryPrice: trading.Dec("64000"), Mark: trading.MarkAt(trading.Dec("61208.27")),
			UnrealizedPnL: trading.Some(trading.Dec("-4187.6")), StopLoss: trading.At(trading.Dec("60500")), TakeProfit: trading.Clear},
		trading.Position{Symbol: "NEWCOIN", Side: trading.Short, Size: trading.Dec("100"), EntryPrice: trading.Dec("1.25"), StopLoss: trading.Clear, TakeProfit: trading.Clear})
	first.Orders = []orderView{{"acc_1", "ord_7", "BTC", trading.Long, amount("0.5"), amount("60000")}}
	first.Runs = []runView{{"acc_1", "run_3", "ETH", trading.Short, false}}
	first.Protection = &protectionView{Running: true, State: protect.Flattening, Since: midnight.Add(-12 * time.Second), Reason: "room is $812.40", Refusal: "flattening: room is $812.40"}
	s := statusView{
		At: midnight, BaseURL: "https://api.trading.example/v1", Environment: trading.EnvLive, Archived: 2,
		Health:   &healthView{false, trading.Degraded, trading.FeedStale, midnight.Add(-4 * time.Second), false, trading.Some(4 * time.Second)},
		Accounts: []accountView{first, account("acc_2", "104000", "95000", "110000")},
		Pending: []pendingView{
			{Journal: "my dir/bot.journal", ID: "7f3a-9", Decided: midnight.Add(-23*time.Minute - 12*time.Second), Operation: trading.OpOrder, Environment: trading.EnvLive, Account: "acc_1", Symbol: "BTC", Last: "the account is read twice"},
			{Journal: "my dir/bot.journal", ID: "7f3a-10", Decided: midnight.Add(-15 * time.Second), Operation: trading.OpClose, Environment: trading.EnvLive, Account: "acc_2", Symbol: "ETH", Last: "no answer: EOF"},
		},
		Limits: []limitView{{"key/live/1f0c9a3e", 600, 512, 0}, {"user/market-orders", 150, 0, 42}, {"user/closes", 150, 12, 0}},
	}
	s.Accounts[1].Errors = []string{"orders: GET /accounts/{accountId}/orders: 502"}
	s.Findings = s.judge()
	return s
}

// newScreen is a screen that shows night, an hour long.
func newScreen(t theme) *screen {
	return &screen{
		ctx: context.Background(), theme: t, interval: 5 * time.Second, timeout: time.Second, work: &sync.RWMutex{}, width: 110, height: 44,
		now:  func() time.Time { return midnight.Add(2 * time.Second) },
		read: func(context.Context) statusView { return night() },
		flatten: func(_ context.Context, a accountView, say func(string)) error {
			say("close BTC: applied")
			say("NOT PROVEN FLAT: " + string(a.ID))
			return flatten.ErrNotFlat
		},
	}
}

// pump carries out commands until there are no more, as the program would. Ticks are
// left out: time stands still.
func pump(m *screen, cmds ...tea.Cmd) {
	for len(cmds) > 0 {
		cmd := cmds[0]
		cmds = cmds[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil, tickMsg, tea.QuitMsg:
		case tea.BatchMsg:
			cmds = append(cmds, msg...)
		default:
			_, next := m.Update(msg)
			cmds = append(cmds, next)
		}
	}
}

func press(m *screen, keys ...string) {
	for _, key := range keys {
		named := map[string]tea.Key{
			"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
			"down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "pgdown": {Code: tea.KeyPgDown},
		}
		k, ok := named[key]
		if !ok {
			k = tea.Key{Code: rune(key[0]), Text: key}
		}
		_, cmd := m.Update(tea.KeyPressMsg(k))
		pump(m, cmd)
	}
}

func TestTopFrames(t *testing.T) {
	for name, theme := range map[string]theme{"plain": plainTheme(), "colour": colourTheme()} {
		t.Run(name, func(t *testing.T) {
			m := newScreen(theme)
			var frames strings.Builder
			show := func(title string) {
				frame := m.View().Content
				require.Equal(t, m.height, strings.Count(frame, "\n")+1, title)
				frames.WriteString("=== " + title + "\n" + frame + "\n")
			}
			show("before the first round")
			pump(m, m.round())
			show("at three in the morning")
			press(m, "f", "a", "c")
			show("asked whether to flatten")
			press(m, "c", "backspace", "c", "_", "1", "enter")
			show("not proven flat")
			m.height = 12
			press(m, "down", "down")
			show("scrolled on a small screen")
			if name == "plain" {
				assert.NotContains(t, frames.String(), "\x1b")
			}
			golden(t, "top."+name+".txt", frames.String())
		})
	}
}

func TestTopFlattensTheChosenAccount(t *testing.T) {
	var flattened []trading.AccountID
	m := newScreen(plainTheme())
	m.flatten = func(_ context.Context, a accountView, _ func(string)) error {
		flattened = append(flattened, a.ID)
		return nil
	}
	press(m, "f")
	assert.Equal(t, watching, m.mode, "nothing is read yet")
	pump(m, m.round())
	press(m, "f", "enter")
	press(m, "f", "x", "enter")
	press(m, "f", "a", "c", "c", "_", "2", "enter") // the other one's name
	press(m, "f", "a", "c", "c", "_", "1", "esc", "enter")
	assert.Empty(t, flattened)
	press(m, "tab", "f", "a", "c", "c", "_", "2", "enter")
	assert.Equal(t, []trading.AccountID{"acc_2"}, flattened)
	require.NoError(t, m.err())
	m.flatten = func(context.Context, accountView, func(string)) error { return errors.New("no") }
	press(m, "f", "a", "c", "c", "_", "2", "enter")
	assert.Equal(t, cli.NotFlat, cli.Status(m.err()))
}

func TestTopHaltsTheChosenAccount(t *testing.T) {
	m := newScreen(plainTheme())
	pump(m, m.round())
	press(m, "h")
	assert.Equal(t, watching, m.mode)
	assert.Contains(t, m.View().Content, "a halt needs --env live and --state-dir")

	var halted []trading.AccountID
	m.halt = func(_ context.Context, a accountView) (string, error) {
		halted = append(halted, a.ID)
		return "the protection is held", nil
	}
	press(m, "h", "enter")
	press(m, "h", "a", "c", "c", "_", "1", "esc")
	assert.Empty(t, halted)
	press(m, "tab", "h")
	assert.Contains(t, m.View().Content, "Halt acc_2: its protection refuses entries")
	press(m, "a", "c", "c", "_", "2", "enter")
	assert.Equal(t, []trading.AccountID{"acc_2"}, halted)
	assert.Contains(t, m.View().Content, "halted acc_2: the protection is held")
	require.NoError(t, m.err(), "a halt closes nothing")
	m.halt = func(context.Context, accountView) (string, error) { return "", errors.New("no folder") }
	press(m, "h", "a", "c", "c", "_", "2", "enter")
	assert.Contains(t, m.View().Content, "NOT HALTED: acc_2: no folder")
}

func TestTopSaysThatItIsStale(t *testing.T) {
	m := newScreen(plainTheme())
	pump(m, m.round())
	assert.NotContains(t, m.View().Content, "STALE")
	m.now = func() time.Time { return midnight.Add(16 * time.Second) }
	assert.Contains(t, m.View().Content, "STALE:  read 16s ago")
}

// When the service is gone, the last picture stays, and says how old it is.
func TestTopKeepsTheLastPicture(t *testing.T) {
	m := newScreen(plainTheme())
	pump(m, m.round())
	for name, s := range map[string]statusView{
		"no list of accounts": {At: midnight.Add(time.Minute), Environment: trading.EnvLive, Errors: []string{"accounts: connection refused"}},
		"no account": {At: midnight.Add(time.Minute), Environment: trading.EnvLive, Accounts: []accountView{
			{ID: "acc_1", Environment: trading.EnvLive, ReadAt: midnight.Add(time.Minute), Errors: []string{"state: connection refused"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Findings = s.judge()
			m.Update(statusMsg(s))
			m.now = func() time.Time { return midnight.Add(61 * time.Second) }
			frame := m.View().Content
			assert.Contains(t, frame, "acc_1  ACTIVE  phase 1  READ 1m1s AGO")
			assert.Contains(t, frame, "95,812.40")
			assert.Contains(t, frame, "connection refused")
		})
	}
}

// The program as it runs, with a keyboard and a screen that are pipes.
func TestTopRuns(t *testing.T) {
	m := newScreen(plainTheme())
	keyboard, keys := io.Pipe()
	seen := make(chan struct{})
	var once sync.Once
	out := writerFunc(func(p []byte) {
		if strings.Contains(string(p), "acc_1") {
			once.Do(func() { close(seen) })
		}
	})
	program := tea.NewProgram(m, tea.WithContext(t.Context()), tea.WithInput(keyboard), tea.WithOutput(out), tea.WithWindowSize(110, 44),
		tea.WithoutSignals(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	ended := make(chan error, 1)
	go func() { _, err := program.Run(); ended <- err }()
	<-seen
	_, err := keys.Write([]byte("q"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.NoError(t, keys.Close())
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// What top flattens is said line by line, to the proof, and whether the journal of a bot was read.
func TestFlattenFromTop(t *testing.T) {
	for _, c := range []struct {
		journals          []string
		note, summary, is string // is nothing where it is proven
	}{
		{nil, unnamed, "flat: account acc_1 after 1 steps", ""},
		{[]string{"DIR/missing"}, unread, "NOT PROVEN FLAT: account acc_1 after 1 steps", "no such file"},
		{[]string{"DIR/there"}, "", "flat: account acc_1 after 1 steps", ""},
		{[]string{"DIR/there", "DIR/missing"}, unread, "NOT PROVEN FLAT: account acc_1 after 1 steps", "several are named"},
	} {
		t.Run(strings.Join(c.journals, " "), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.sim.Trade("acc_1", "long", "1", "BTC")
				log, err := journal.Open(filepath.Join(dir, "there"))
				require.NoError(t, err)
				require.NoError(t, log.Close())
				for i, name := range c.journals {
					c.journals[i] = strings.Replace(name, "DIR", dir, 1)
				}
				cmd := &cobra.Command{}
				service := r.app(strings.NewReader(""), io.Discard, io.Discard).Connection(cmd, time.Minute).Environment("the live account")
				require.NoError(t, cmd.ParseFlags([]string{"--env", "live"}))
				require.NoError(t, service.Read())
				var said []string
				err = flattenFromTop(t.Context(), service, c.journals, accountView{ID: "acc_1"}, func(line string) { said = append(said, line) })
				if c.is == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.is)
					require.Equal(t, cli.NotFlat, cli.Status(err))
				}
				if len(said) > 0 && strings.HasPrefix(said[0], "warning: ") {
					said = said[1:]
				}
				if said = append(said, ""); c.note == "" {
					said = append(said, "")
				}
				require.Len(t, said, 7)
				assert.Equal(t, []string{"seen: long 1 BTC", "close BTC: applied", "seen: nothing", "seen: nothing"}, said[:4])
				assert.Contains(t, said[4], c.summary)
				assert.Equal(t, c.note, said[5])
				assert.Equal(t, "0", r.sim.Position("acc_1", "BTC").String())
				assert.NoFileExists(t, filepath.Join(dir, "missing"))
			})
		})
	}
}
