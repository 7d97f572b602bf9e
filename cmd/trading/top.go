package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/protect"
)

func newTop(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "top", Short: "Show the status live, in the terminal", Args: cli.Args(),
		Long: `Show the status live, in the terminal.

  q      quit
  r      read now
  tab    choose an account
  f      flatten the chosen account; it asks first
  h      halt the chosen account: tell its protection, in the folder of --state-dir, to
         refuse entries; it asks first
  up, down, page up, page down   scroll

Each round reads health, the accounts, and for each account its state, positions and
orders: with one account and the default interval some 60 of the 600 requests a minute
that a key has.` + firesTriggers,
	}
	service := app.Connection(cmd, readTimeout).Environment(accountToRead)
	journals := journalsFlag(cmd)
	folder := stateDirFlag(app, cmd, "protection")
	interval := cmd.Flags().Duration("interval", 5*time.Second, "time between two rounds")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case !app.InTerminal || !app.OutTerminal:
			return cli.Misuse("top needs a terminal; trading status shows the same once")
		case *interval < time.Second:
			return cli.Misuse("--interval must be at least 1s, not %s", *interval)
		}
		if err := service.Read(); err != nil {
			return err
		}
		dir, err := folder.shown(service.Env)
		if err != nil {
			return err
		}
		session, err := service.Connect()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		m := &screen{
			ctx: ctx, theme: themeOf(app), interval: *interval, timeout: service.Timeout, now: time.Now, work: &sync.RWMutex{},
			read: func(ctx context.Context) statusView {
				return gatherer{service, session.Client, shownJournals(service, *journals), dir}.gather(ctx)
			},
			flatten: func(ctx context.Context, a accountView, say func(string)) error {
				return flattenFromTop(ctx, service, *journals, a, say)
			},
		}
		if dir != "" {
			m.halt = func(ctx context.Context, a accountView) (string, error) { return haltFromTop(ctx, dir, a.ID) }
		}
		_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(app.In), tea.WithOutput(app.Out), tea.WithEnvironment(app.Environ)).Run()
		cancel()
		m.work.Lock() // waits for what is under way
		defer m.work.Unlock()
		if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
			err = nil
		}
		return errors.Join(err, session.Close(), m.err())
	}
	return cmd
}

// flattenFromTop gets an account out of the market, by a client with a journal: the one that is named.
func flattenFromTop(ctx context.Context, service *cli.Service, journals []string, a accountView, say func(string)) (err error) {
	own := *service
	own.App = service.App.Saying(lineWriter(say))
	if len(journals) > 0 {
		own.Journal = journals[0]
	}
	connect := own.ConnectToFlatten
	if own.Env == trading.EnvSandbox {
		connect = own.Connect
	}
	session, err := connect()
	if err != nil {
		return err
	}
	if len(journals) > 1 && session.Unread == nil {
		session.Unread = fmt.Errorf("journal %s: it was not opened, since several are named: trading flatten --journal %s", journals[1], cli.Word(journals[1]))
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, flattenTimeout)
	defer cancel()
	options := flatten.Options{
		Halt:     session.Client,
		Progress: func(s flatten.Step) { say(s.String()) },
		Looked:   func(l flatten.Look) { say("seen: " + l.String()) },
	}
	var report *flatten.Report
	if service.Env == trading.EnvLive {
		report, err = flatten.Account(ctx, session.Live.Account(a.ID), options)
	} else {
		report, err = flatten.Sandbox(ctx, session.Sandbox, options)
	}
	err = judge(session, err, report)
	say(report.String())
	if note := noteOf(&own, session); note != "" {
		say(note)
	}
	return err
}

// haltFromTop has the protection of an account refuse entries, and returns what came
// of it.
func haltFromTop(ctx context.Context, dir string, id trading.AccountID) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s, err := protect.Ask(ctx, dir, protect.Request{Account: id, Kind: protect.RequestHalt, Reason: "by an operator"})
	switch {
	case errors.Is(err, protect.ErrNotRunning):
		return "no protection runs: only programs that follow the folder take no entries", nil
	case err != nil:
		return "", err
	default:
		return fmt.Sprintf("the protection is %s", s.State), nil
	}
}

// lineWriter gives what is written to a function.
type lineWriter func(string)

func (w lineWriter) Write(p []byte) (int, error) {
	w(strings.TrimSpace(string(p)))
	return len(p), nil
}

// mode is what the keys do.
type mode int

const (
	watching   mode = iota
	asking          // whether to flatten, or to halt
	flattening      // until it is proven, or has failed
)

// logLines is how much of the progress of flattening is shown.
const logLines = 8

// screen is what top shows.
type screen struct {
	ctx      context.Context
	theme    theme
	interval time.Duration
	timeout  time.Duration
	now      func() time.Time
	read     func(context.Context) statusView
	flatten  func(context.Context, accountView, func(string)) error
	halt     func(context.Context, accountView) (string, error) // nil without a folder
	work     *sync.RWMutex                                      // held for reading by what is under way

	status        *statusView
	reading       bool
	began         time.Time // of the last round
	width, height int
	scroll, below int // lines of the body above and below what is shown
	chosen        int
	mode          mode
	halting       bool // what is asked is whether to halt
	typed         string
	log           []string
	news          chan tea.Msg
	notFlat       error // of the last flattening
}

// The messages of the screen's own.
type (
	tickMsg     time.Time
	statusMsg   statusView
	progressMsg string
	flatMsg     struct{ err error }
	haltMsg     string
)

// Init begins the first round.
func (m *screen) Init() tea.Cmd { return tea.Batch(m.round(), tick()) }

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// round reads everything once.
func (m *screen) round() tea.Cmd {
	if m.reading {
		return nil
	}
	m.reading, m.began = true, m.now()
	return func() tea.Msg {
		m.work.RLock()
		defer m.work.RUnlock()
		ctx, cancel := context.WithTimeout(m.ctx, m.timeout)
		defer cancel()
		return statusMsg(m.read(ctx))
	}
}

// Update takes a key, a size, or news.
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		if m.now().Sub(m.began) >= m.interval {
			return m, tea.Batch(tick(), m.round())
		}
		return m, tick()
	case statusMsg:
		s := statusView(msg)
		if m.status != nil {
			s.keep(m.status.Accounts)
		}
		m.status, m.reading = &s, false
		m.chosen = max(0, min(m.chosen, len(s.Accounts)-1))
	case progressMsg:
		m.log = append(m.log, cli.Printable(msg))
		cmd := m.next()
		return m, cmd
	case flatMsg:
		m.mode, m.notFlat = watching, msg.err
		if msg.err != nil {
			m.log = append(m.log, "NOT PROVEN FLAT: "+oneLine(msg.err))
		}
		cmd := m.round()
		return m, cmd
	case haltMsg:
		m.log = append(m.log, cli.Printable(msg))
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return m, nil
}

func (m *screen) key(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if key.String() == "ctrl+c" {
		return m, tea.Quit
	}
	if m.mode == asking {
		return m.answer(key)
	}
	page := max(1, m.room()-2)
	switch key.String() {
	case "q":
		if m.mode == flattening {
			m.log = append(m.log, "flattening goes on: ctrl+c interrupts it")
			return m, nil
		}
		return m, tea.Quit
	case "r":
		cmd := m.round()
		return m, cmd
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup":
		m.scroll -= page
	case "pgdown", "space":
		m.scroll += page
	case "tab":
		if m.status != nil && len(m.status.Accounts) > 0 {
			m.chosen = (m.chosen + 1) % len(m.status.Accounts)
		}
	case "f":
		if _, ok := m.account(); ok && m.mode == watching {
			m.mode, m.halting, m.typed = asking, false, ""
		}
	case "h":
		_, ok := m.account()
		switch {
		case m.halt == nil:
			m.log = append(m.log, "a halt needs --env live and --state-dir, the folder of a protection")
		case ok && m.mode == watching:
			m.mode, m.halting, m.typed = asking, true, ""
		}
	}
	return m, nil
}

// answer takes the account's name, letter by letter.
func (m *screen) answer(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	a, _ := m.account()
	switch key.String() {
	case "esc":
		m.mode = watching
	case "backspace":
		if m.typed != "" {
			m.typed = m.typed[:len(m.typed)-1]
		}
	case "enter":
		m.mode = watching
		if m.typed == nameOf(a.ID, a.Environment) {
			cmd := m.leave
			if m.halting {
				cmd = m.stop
			}
			next := cmd(a)
			return m, next
		}
		m.log = append(m.log, "not confirmed: nothing was sent")
	default:
		if len(key.Text) == 1 && key.Text >= " " && key.Text <= "~" {
			m.typed += key.Text
		}
	}
	return m, nil
}

// stop halts an account.
func (m *screen) stop(a accountView) tea.Cmd {
	name, ctx := nameOf(a.ID, a.Environment), m.ctx
	m.log = append(m.log, "halting "+name)
	return func() tea.Msg {
		m.work.RLock()
		defer m.work.RUnlock()
		came, err := m.halt(ctx, a)
		if err != nil {
			return haltMsg("NOT HALTED: " + name + ": " + oneLine(err))
		}
		return haltMsg("halted " + name + ": " + came)
	}
}

// leave begins to flatten an account.
func (m *screen) leave(a accountView) tea.Cmd {
	m.mode, m.notFlat = flattening, flatten.ErrNotFlat
	m.log = []string{"flattening " + nameOf(a.ID, a.Environment)}
	news, ctx := make(chan tea.Msg, 1000), m.ctx
	m.news = news
	return tea.Batch(func() tea.Msg {
		m.work.RLock()
		defer m.work.RUnlock()
		err := m.flatten(ctx, a, func(line string) {
			select {
			case news <- progressMsg(line):
			default: // nobody reads any more
			}
		})
		select {
		case news <- flatMsg{err}:
		case <-ctx.Done():
		}
		return nil
	}, m.next())
}

// next waits for news of the flattening.
func (m *screen) next() tea.Cmd {
	news, ctx := m.news, m.ctx
	return func() tea.Msg {
		select {
		case msg := <-news:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

// account is the one that is chosen.
func (m *screen) account() (accountView, bool) {
	if m.status == nil || m.chosen >= len(m.status.Accounts) {
		return accountView{}, false
	}
	return m.status.Accounts[m.chosen], true
}

// err is why the last account that was to be flattened is not proven flat.
func (m *screen) err() error {
	if m.notFlat != nil {
		return cli.WithCode(cli.NotFlat, m.notFlat)
	}
	return nil
}

// View draws the screen.
func (m *screen) View() tea.View {
	v := tea.NewView(strings.Join(m.frame(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "trading top"
	return v
}

// room is how many lines the body has.
func (m *screen) room() int { return max(1, m.height-1-len(m.footer())) }

// frame is the title, the part of the body that fits, and the footer.
func (m *screen) frame() []string {
	lines := []string{m.title()}
	body := m.body()
	room := m.room()
	m.scroll = max(0, min(m.scroll, len(body)-room))
	visible := body[m.scroll:min(len(body), m.scroll+room)]
	m.below = len(body) - m.scroll - len(visible)
	lines = append(lines, visible...)
	for range room - len(visible) {
		lines = append(lines, "")
	}
	return append(lines, m.footer()...)
}

func (m *screen) title() string {
	if m.status == nil {
		return m.theme.bold("trading top") + "  reading"
	}
	old := m.now().Sub(m.status.At)
	text := "  read " + age(old) + " ago"
	if old > 3*m.interval {
		return renderTitle(*m.status, m.theme) + "  " + m.theme.bad("STALE:"+text)
	}
	return renderTitle(*m.status, m.theme) + m.theme.dim(text)
}

func (m *screen) body() []string {
	if m.status == nil {
		return []string{""}
	}
	chosen := m.chosen
	if len(m.status.Accounts) < 2 {
		chosen = -1
	}
	return renderBody(*m.status, chosen, m.now(), m.theme)
}

func (m *screen) footer() []string {
	var lines []string
	if n := len(m.log); n > 0 {
		for _, line := range m.log[max(0, n-logLines):] {
			lines = append(lines, m.theme.dim("| ")+line)
		}
	}
	switch m.mode {
	case asking:
		a, _ := m.account()
		name := nameOf(a.ID, a.Environment)
		question := fmt.Sprintf("Flatten %s: cancel %d runs and %d orders, close %d positions.", name, len(a.Runs), len(a.Orders), len(a.Positions))
		if m.halting {
			question = fmt.Sprintf("Halt %s: its protection refuses entries until it is resumed; nothing is closed.", name)
		}
		return append(lines,
			m.theme.bad(question),
			fmt.Sprintf("Type %s and press enter, or esc to leave it: %s_", m.theme.bold(name), m.typed))
	case flattening:
		return append(lines, m.theme.warn("flattening")+m.theme.dim("   ctrl+c interrupts"))
	default:
		keys := "q quit   r read now   tab account   f flatten   h halt   up/down scroll"
		if m.below > 0 {
			keys += fmt.Sprintf("   %d more lines", m.below)
		}
		return append(lines, m.theme.dim(keys))
	}
}
