package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
)

const writeTimeout = 2 * time.Minute

// previewLasts is how old the preview of an entry may be when it is confirmed.
const previewLasts = time.Minute

// writer is a command that writes: it shows what it will do, asks, sends, and says what
// became of it.
type writer struct {
	app     *cli.App
	service *cli.Service
	out     *cli.Output
	entry   bool // can add exposure
	named   bool // takes a client order id

	yes, dryRun   bool
	clientOrderID string
}

// newWriter adds the flags of a command that writes.
func newWriter(app *cli.App, cmd *cobra.Command, entry bool) *writer {
	w := &writer{app: app, entry: entry, named: true}
	w.service = app.Connection(cmd, writeTimeout).Environment("the live account; required with --env live").Writes()
	w.out = app.Output(cmd)
	f := cmd.Flags()
	f.BoolVar(&w.yes, "yes", false, "do not ask; required without a terminal")
	f.BoolVar(&w.dryRun, "dry-run", false, "show what would be sent, and send nothing")
	f.StringVar(&w.clientOrderID, "client-order-id", "", "the id that an earlier try printed: placed at most once under it (live only; default a new one)")
	return w
}

// plan is what is about to be sent.
type plan struct {
	Operation trading.Operation `json:"operation"`
	Account   trading.AccountID `json:"account,omitempty"`
	Symbol    string            `json:"symbol,omitempty"`
	What      string            `json:"what"`
	Order     *orderPreview     `json:"order,omitempty"`
	refused   error             // why it should not be sent
}

// task is a write: how it is planned and sent.
type task struct {
	plan func(context.Context, *cli.Session) (plan, error)
	send func(context.Context, *cli.Session, ...trading.CallOption) (writeView, error)
}

func (w *writer) run(ctx context.Context, t task) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	session, err := w.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	p, err := w.plan(ctx, session, t)
	if err != nil {
		return err
	}
	if p.refused == nil {
		p.refused = w.obey()
	}
	if w.dryRun {
		return errors.Join(w.out.Print(p, p.table), p.refused)
	}
	p.table(w.app.Err)
	if p.refused != nil {
		return p.refused
	}
	if err := cmp.Or(w.confirm(ctx), w.obey()); err != nil {
		return err
	}
	ctx, cancel := w.service.Context(ctx)
	defer cancel()
	return w.send(ctx, session, t)
}

func (w *writer) plan(ctx context.Context, session *cli.Session, t task) (plan, error) {
	ctx, cancel := w.service.Context(ctx)
	defer cancel()
	return t.plan(ctx, session)
}

// confirm asks. What was shown is of some seconds ago by then: an entry that was thought
// over for long is to be looked at again.
func (w *writer) confirm(ctx context.Context) error {
	if w.yes {
		return nil
	}
	shown := time.Now()
	if err := w.app.Confirm(ctx, "Send it?"); err != nil {
		return err
	}
	if waited := time.Since(shown); w.entry && waited > previewLasts {
		return cli.WithCode(cli.Refused, fmt.Errorf("the preview is %s old: nothing was sent, look again", age(waited)))
	}
	return nil
}

// obey refuses an entry that a protection refuses which this command can see: an operator who halts
// an account means this command too.
func (w *writer) obey() error {
	dir := w.app.Getenv("TRADING_STATE_DIR")
	if dir == "" || !w.entry || w.service.Env != trading.EnvLive {
		return nil
	}
	s, err := protect.ReadStatus(dir, w.service.Account)
	switch {
	case errors.Is(err, protect.ErrUnknownAccount), err == nil && s.Entries:
		return nil
	case err == nil:
		err = errors.New(s.Refusal)
	}
	return cli.WithCode(cli.Refused, fmt.Errorf("the protection of %s in %s refuses entries: %w: nothing was sent; resume it first (trading resume --account %s --state-dir %s), or unset TRADING_STATE_DIR to trade beside it",
		cli.Printable(w.service.Account), dir, err, cli.Word(w.service.Account), cli.Word(dir)))
}

// check refuses a command line that would send without being asked for clearly.
func (w *writer) check() error {
	if err := cmp.Or(w.service.Read(), w.service.RequireAccount()); err != nil {
		return err
	}
	switch {
	case !w.yes && !w.dryRun && !w.app.InTerminal:
		return cli.Misuse("there is no terminal to ask on: give --yes, or --dry-run")
	case w.clientOrderID != "" && w.service.Env != trading.EnvLive:
		return cli.Misuse("nothing was sent: --client-order-id is for --env live, and the paper account executes a repeated order again: leave the id out, and read the account before you repeat an order")
	case w.clientOrderID != "" && !w.named:
		return cli.Misuse("--client-order-id needs every level named, since its request has to be the same each time")
	default:
		return nil
	}
}

func (w *writer) connect() (*cli.Session, error) {
	switch {
	case w.dryRun, w.service.Env == trading.EnvSandbox: // a journal is of live writes
		return w.service.Connect()
	case w.entry:
		return w.service.ConnectForEntry()
	default:
		return w.service.ConnectForExit()
	}
}

func (w *writer) send(ctx context.Context, session *cli.Session, t task) error {
	var opts []trading.CallOption
	if w.service.Env == trading.EnvLive && w.named {
		if w.clientOrderID == "" {
			w.clientOrderID = "cli-" + uuid.NewString()
		}
		opts = append(opts, trading.WithClientOrderID(w.clientOrderID))
		w.app.Sayf("client order id: %s", cli.Printable(w.clientOrderID))
	}
	v, err := t.send(ctx, session, opts...)
	v.ClientOrderID = w.clientOrderID
	v.Outcome = trading.OutcomeOf(err).String()
	v.note(err)
	if err := w.out.Print(v, v.table); err != nil {
		w.app.Sayf("warning: the result could not be printed: %v", err)
	}
	var earlier *trading.PendingError
	switch {
	case trading.OutcomeOf(err) == trading.Unknown:
		w.advise(session, v)
	case errors.As(err, &earlier): // nothing resolves it once this command has ended
		for _, id := range earlier.IDs {
			w.app.Sayf("first find out about the earlier write: trading pending resolve %s %s", id, session.Flags)
		}
	}
	return err
}

// advise says what to do about a write whose outcome is not known.
func (w *writer) advise(session *cli.Session, v writeView) {
	w.app.Sayf("UNKNOWN: it may have been applied. Do not send it again as it is.")
	if _, err := keptFile(session.Journal).find(v.Intent); err == nil {
		w.app.Sayf("find out: trading pending resolve %s %s", v.Intent, session.Flags)
	} else {
		w.app.Sayf("look: trading status --env %s", w.service.Env)
	}
	if w.clientOrderID != "" {
		w.app.Sayf("or repeat the same command with --client-order-id %s: it is placed at most once", cli.Word(w.clientOrderID))
	}
}

// trader is the account that the flags name.
func (w *writer) trader(session *cli.Session) trading.Trader {
	if w.service.Env == trading.EnvLive {
		return session.Live.Account(w.service.Account)
	}
	return session.Sandbox
}

func (w *writer) live(session *cli.Session) *trading.Account {
	return session.Live.Account(w.service.Account)
}

// requireLive refuses what the paper account does not have.
func (w *writer) requireLive(what string) error {
	if err := w.service.Read(); err != nil {
		return err
	}
	if w.service.Env != trading.EnvLive {
		return cli.Misuse("the paper account has no %s: --env live", what)
	}
	return nil
}

func (p plan) table(w io.Writer) {
	where := "the paper account"
	if p.Account != "" {
		where = "live account " + cli.Printable(p.Account) + ", real money"
	}
	fmt.Fprintf(w, "%s\n  on %s (%s)\n", p.What, where, p.Operation)
	if p.Order != nil {
		p.Order.table(w)
	}
}

// writeView is what became of a write.
type writeView struct {
	Outcome       string                `json:"outcome"`
	Operation     trading.Operation     `json:"operation"`
	Account       trading.AccountID     `json:"account,omitempty"`
	Symbol        string                `json:"symbol,omitempty"`
	ClientOrderID string                `json:"clientOrderId,omitempty"`
	Intent        trading.IntentID      `json:"intent,omitempty"`
	Key           trading.Key           `json:"idempotencyKey,omitempty"`
	Replayed      bool                  `json:"replayed,omitempty"`
	FillPrice     *decimal.Decimal      `json:"fillPrice,omitempty"`
	FillSize      cli.Amount            `json:"fillSize,omitzero"`
	Fee           cli.Amount            `json:"fee,omitzero"`
	PnL           cli.Amount            `json:"pnl,omitzero"`
	Balance       cli.Amount            `json:"balance,omitzero"`
	Position      *positionView         `json:"position,omitempty"`
	OrderID       trading.OrderID       `json:"orderId,omitempty"`
	RunID         trading.RunID         `json:"runId,omitempty"`
	Status        trading.AccountStatus `json:"status,omitempty"`
	Code          trading.Code          `json:"code,omitempty"`
	Advice        string                `json:"advice,omitempty"`
	Error         string                `json:"error,omitempty"`
}

// meta notes how the answer came about.
func (v *writeView) meta(m trading.Meta) {
	v.Key, v.Replayed = m.Key, m.Replayed
}

// position notes the position afterwards.
func (v *writeView) position(account trading.AccountID, p trading.Opt[trading.Position]) {
	if p, ok := p.Get(); ok {
		view := viewPosition(account, p)
		v.Position = &view
	}
}

// note notes an error.
func (v *writeView) note(err error) {
	if err == nil {
		return
	}
	v.Error, v.Advice = err.Error(), trading.AdviceOf(err).String()
	var write *trading.WriteError
	if errors.As(err, &write) {
		v.Intent = write.Intent
	}
	var refusal *trading.Error
	if errors.As(err, &refusal) {
		v.Code = refusal.Code
	}
}

func (v writeView) table(w io.Writer) {
	row := func(name, value string) {
		if value != "" && value != "-" {
			cli.Row(w, name, value)
		}
	}
	row("outcome", v.Outcome)
	if v.Replayed {
		row("answer", "the service repeated its stored answer")
	}
	if v.FillPrice != nil {
		row("filled at", v.FillPrice.String())
	}
	row("size", v.FillSize.String())
	row("fee", v.Fee.String())
	row("PnL", v.PnL.String())
	row("balance", v.Balance.String())
	if p := v.Position; p != nil {
		row("position", fmt.Sprintf("%s %s %s, entry %s, stop %s, target %s", p.Side, p.Size, p.Symbol, p.EntryPrice, p.StopLoss, p.TakeProfit))
	}
	row("order", string(v.OrderID))
	row("run", string(v.RunID))
	row("account", string(v.Status))
	row("code", string(v.Code))
	row("next", v.Advice)
}
