package trading

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// chooseKey gives a live write its first key. A decision goes on where the last
// program that took it stopped: it walks the same keys, and one that was carried
// out is answered from the journal.
func (c *call) chooseKey() error {
	if !c.endpoint.write || c.env != EnvLive {
		return nil
	}
	c.try = 1
	switch source := &c.opts.key; {
	case source.given != "":
		c.key = source.given
	case len(source.decision) > 0:
		c.decision = decisionName(c.account, c.endpoint.op, source.decision)
		if err := c.resumeDecision(); err != nil {
			return err
		}
		c.key = keyOfTry(c.decision, c.try)
	default:
		c.key = NewKey()
	}
	return nil
}

// resumeDecision finds out from the journal what became of the decision. Where no
// journal that outlives a process says that it was never taken, it may have been:
// then the call begins in doubt, since an earlier run may have sent its key.
func (c *call) resumeDecision() error {
	entries, err := c.core.journal.Decision(c, c.decision)
	if err != nil {
		if c.entry {
			return &GuardError{Kind: ErrJournal, Err: err}
		}
		c.beginInDoubt()
		return nil
	}
	// Whatever base URL they were for: two can lead to one service, and a decision
	// that is taken for another's is not taken twice.
	if len(entries) == 0 {
		if !c.core.durable {
			c.beginInDoubt()
		}
		return nil
	}
	last := entries[len(entries)-1]
	for _, entry := range entries {
		if _, settled := entry.Settlement.Get(); !settled {
			last = entry // whatever came after it
		}
	}
	c.try = last.Intent.Try
	settlement, settled := last.Settlement.Get()
	switch {
	case !settled && (last.Intent.Fenced || c.entry && !c.opts.skipUnsettled || elapsed(last.Intent.Created) < 0):
		c.outcome = Unknown // of the decision, which a clock that was set back cannot tell the age of either
		c.intent = last.Intent.ID
		return &GuardError{Kind: ErrUnsettled, Reason: "this decision was sent before, and what became of it is not known"}
	case !settled:
		c.resumeIntent(last.Intent) // the same bytes under the same key, or a refusal
	case settlement.Outcome == Applied && len(settlement.Answer) > 0:
		c.key = last.Intent.Key
		c.last = attempt{key: c.key, status: 200, body: settlement.Answer, received: settlement.At, stored: true}
		c.answer, c.outcome = answerSuccess, Applied
	case settlement.Outcome == Applied:
		c.outcome = Applied
		return &GuardError{Kind: ErrDecided, Reason: fmt.Sprintf("settled %s by %s", settlement.At.Format(time.RFC3339), settlement.Basis)}
	case settlement.Spent:
		c.try++ // not applied, and its key is dead
	}
	return nil
}

// resumeIntent goes on with an intent that is pending since another call. It is in
// doubt, and as old as it is: its key may be about to be free again.
func (c *call) resumeIntent(in Intent) {
	c.beginInDoubt()
	c.outcome, c.began, c.resumed = Unknown, in.Created, true
	if bytes.Equal(in.Body, c.body) {
		c.intent, c.journaled = in.ID, in.Key
		if b, known := in.Baseline.Get(); known {
			c.baseline = &b
		}
		c.open = c.core.unsettled.resume(in)
	}
}

// beginInDoubt notes that the call's key may have been sent before this call.
func (c *call) beginInDoubt() { c.doubt, c.doubted, c.begunInDoubt = true, true, true }

// nextKey moves on to a new key, which the last one's stored refusal asks for.
func (c *call) nextKey() {
	c.try++
	if c.decision != "" {
		c.key = keyOfTry(c.decision, c.try)
	} else {
		c.key = NewKey()
	}
	c.keySends, c.rekey, c.heard = 0, false, heard{}
}

// writeIntent makes the intent durable before its first byte, and again before
// the first byte under each new key. Only what can trade is journaled.
func (c *call) writeIntent() error {
	switch {
	case !c.endpoint.trades:
		return nil
	case c.env == EnvSandbox:
		if c.sends == 0 {
			c.baseline = c.core.accounts.sandboxBaseline(c.symbol)
		}
		return nil // nothing on paper is worth a journal
	case c.journaled == c.key:
		return nil
	}
	if c.intent == "" {
		if c.opts.readBaseline {
			c.readBaseline()
		}
		c.baseline = c.core.accounts.baseline(c.account, c.symbol, c.endpoint.pro)
	}
	in := c.intentNow()
	var err error
	if c.intent == "" {
		c.open = &openIntent{Intent: in}
		err = c.noteBeside()
	}
	if err == nil {
		err = c.core.beginIntent(c, c.open, &in)
	}
	if err != nil {
		if c.intent == "" {
			c.core.unsettled.forget(c.open)
		}
		c.takeBack(in.ID)
		if c.entry {
			return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can", Err: err}
		}
		c.unjournaled = err
		return nil
	}
	c.intent, c.journaled = in.ID, c.key
	return nil
}

// takeBack settles an intent that the journal would not take, in case it has: a
// context that ends while it is written leaves that open, and the next run would
// look for an order that was never sent.
func (c *call) takeBack(id IntentID) {
	if c.Err() == nil || c.sends > 0 {
		return
	}
	s := Settlement{Outcome: NotApplied, At: time.Now(), Basis: BasisUnsent}
	_ = c.core.journal.Settle(context.WithoutCancel(c.Context), id, s) // an intent it does not have is no harm
}

// intentNow is the intent as it stands.
func (c *call) intentNow() Intent {
	id := c.intent
	if id == "" {
		id = c.core.newIntentID()
	}
	return Intent{
		ID:          id,
		Decision:    c.decision,
		Try:         c.try,
		Key:         c.key,
		Tag:         c.opts.tag,
		BaseURL:     c.core.baseURL,
		Process:     c.core.process,
		Operation:   c.endpoint.op,
		Environment: c.env,
		Account:     c.account,
		Symbol:      c.symbol,
		Body:        c.body,
		Entry:       c.entry,
		Created:     c.began,
		Expires:     c.began.Add(c.opts.lifetimeOf(c.entry)),
		Baseline:    optAt(c.baseline),
	}
}

// newIntentID names an intent by its client, whose name is its own, and a number.
func (c *core) newIntentID() IntentID {
	var room [64]byte
	id := append(append(room[:0], c.process...), '-')
	return IntentID(strconv.AppendUint(id, c.intents.Add(1), 10))
}

// readBaseline reads what the baseline lacks. A read that fails leaves it out:
// then it is not known, which the write says if it matters.
func (c *call) readBaseline() {
	if c.core.accounts.baseline(c.account, c.symbol, c.endpoint.pro) != nil {
		return
	}
	opts := defaultCallOptions()
	opts.priority = Some(c.priority())
	account := &Account{id: c.account, caller: caller{c.core, opts}}
	_, _ = account.Positions(c)
	_, _ = account.Trades(c)
	_, _ = account.OpenOrders(c)
	if c.endpoint.pro {
		_, _ = account.FinishedRuns(c)
	}
}

// settleIntent writes down how the call ended, as soon as it is known, also where
// its caller has left. What stays Unknown stays pending.
func (c *call) settleIntent() {
	if c.intent == "" {
		return
	}
	if c.outcome == Unknown {
		c.core.unsettled.doubt(c.intent, c.heard)
		return
	}
	s := Settlement{Outcome: c.outcome, At: time.Now(), Basis: c.basis(), Spent: c.spent()}
	if c.refusal != nil {
		s.Code = c.refusal.Code
	}
	var answer []byte
	if c.answer == answerSuccess {
		answer = c.last.body
	}
	if c.decision != "" {
		s.Answer = answer
	}
	// The caller's context may have ended, and the settlement is wanted all the same.
	if err := c.core.journal.Settle(withoutCancel(c.Context), c.intent, s); err != nil {
		c.core.log.unwritten(c, err)
	}
	if c.core.unsettled.landed(c.open) {
		v := Verdict{Intent: c.intentNow(), Outcome: c.outcome, Basis: s.Basis, Answer: answer, Err: c.failure}
		c.core.unsettled.settle(c.intent, v)
		c.core.hookSettled(c.Context, v)
	}
}

func (c *call) basis() Basis {
	switch {
	case c.sends == 0 || c.answer == answerNone:
		return BasisUnsent
	case c.last.replayed():
		return BasisReplay
	default:
		return BasisAnswer
	}
}

// spent reports whether nothing can run under the call's key any more: its first
// answer is stored. A 429 need not be, and what is refused for the API key is
// refused in front of the idempotency key: beside another one a late copy would be
// a second order.
func (c *call) spent() bool {
	switch {
	case c.keySends == 0 && c.journaled == c.key:
		return false // it was never sent
	case c.answer == answerSuccess:
		return true
	case c.refusal == nil:
		return false
	default:
		front := c.rule().Advice == AdviseWait || c.rule().Kind == ErrKeyRefused
		return c.refusal.Status < 500 && (!front || c.last.replayed())
	}
}

// unsettled are the intents of this process that are not settled, and those that
// earlier ones left. While one in a symbol is Unknown, entries there are refused:
// the caller's own retry would be a second order.
type unsettled struct {
	mu       sync.Mutex
	open     openIntents
	verdicts map[IntentID]Verdict // of those that were in doubt
	loaded   bool                 // the journal has been asked what earlier processes left
}

type openIntent struct {
	Intent
	durable bool // it is in the journal
	unknown bool
	heard   heard
	flying  <-chan struct{} // closed when the attempt under way has ended; nil if its caller waits

	shown   [2]*shownIntents // where it shows on its account
	dropped bool             // it is not among the open ones any more
}

// heard is what the calls of an intent heard of its key, besides its outcome. It is
// known to this process alone.
type heard struct {
	held   bool // nothing can run under the key any more
	failed bool // the service failed with it, so that it would run again
}

// began notes that an open intent is in the journal as it is now.
func (u *unsettled) began(open *openIntent, now *Intent) {
	if open == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	open.Intent, open.durable = *now, true
}

// resume notes a pending intent that a call goes on with.
func (u *unsettled) resume(in Intent) *openIntent {
	u.mu.Lock()
	defer u.mu.Unlock()
	open := u.open.find(in.ID)
	if open == nil {
		open = &openIntent{Intent: in, durable: true, unknown: true}
		u.open.put(open)
	}
	return open
}

// leave notes that the caller of an intent has gone, and the attempt flies on.
func (u *unsettled) leave(id IntentID, flying <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if in := u.open.find(id); in != nil {
		in.unknown, in.flying = true, flying
		in.note()
	}
}

// doubt notes that an intent's call has ended without its outcome, and what it
// heard of the key.
func (u *unsettled) doubt(id IntentID, h heard) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if in := u.open.find(id); in != nil {
		in.unknown = true
		in.note()
		in.heard.held = in.heard.held || h.held
		in.heard.failed = in.heard.failed || h.failed
	}
}

// maxVerdicts bounds how many verdicts wait for a caller that may never ask.
const maxVerdicts = 1024

// landed forgets an intent, unless its caller had left: then its verdict is wanted.
func (u *unsettled) landed(in *openIntent) (left bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if in.flying != nil && !in.dropped {
		return true
	}
	u.open.drop(in)
	return false
}

// settle forgets an intent that was in doubt, and keeps its verdict for who asks
// about it again.
func (u *unsettled) settle(id IntentID, v Verdict) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open.drop(u.open.find(id))
	u.keep(id, v)
}

// keep remembers a verdict. The lock is held.
func (u *unsettled) keep(id IntentID, v Verdict) {
	if u.verdicts == nil {
		u.verdicts = make(map[IntentID]Verdict)
	}
	for old := range u.verdicts {
		if len(u.verdicts) < maxVerdicts {
			break
		}
		delete(u.verdicts, old)
	}
	u.verdicts[id] = v
}

// verdict returns what an intent that was in doubt has come to.
func (u *unsettled) verdict(id IntentID) (Verdict, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	v, ok := u.verdicts[id]
	return v, ok
}

// left returns what other processes than this one left, oldest first.
func (u *unsettled) left(process string) []Intent {
	u.mu.Lock()
	defer u.mu.Unlock()
	var left []Intent
	for _, in := range u.open.byID {
		if in.Process != process {
			left = append(left, in.Intent)
		}
	}
	slices.SortFunc(left, func(a, b Intent) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(string(a.ID), string(b.ID)))
	})
	return left
}

// find returns an intent that is not settled.
func (u *unsettled) find(id IntentID) (openIntent, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if in := u.open.find(id); in != nil {
		return *in, true
	}
	return openIntent{}, false
}

// known returns what this process knows of an intent that is not settled, or nil. The
// lock guards what is in it; find copies that.
func (u *unsettled) known(id IntentID) *openIntent {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open.find(id)
}

// inSymbol returns the intents that are Unknown in a symbol of an account.
func (u *unsettled) inSymbol(account AccountID, symbol string) []IntentID {
	u.mu.Lock()
	defer u.mu.Unlock()
	shown := u.open.places[accountPlace{account: account, symbol: symbol}]
	if shown == nil || len(shown.unknown) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(shown.unknown))
}

// loadUnsettled takes over, once, what earlier processes left for this service.
func (c *core) loadUnsettled(ctx context.Context) error {
	c.unsettled.mu.Lock()
	defer c.unsettled.mu.Unlock()
	if c.unsettled.loaded {
		return nil
	}
	return c.loadUnsettledLocked(ctx)
}

func (c *core) loadUnsettledLocked(ctx context.Context) error {
	var left []*openIntent
	for in, err := range c.journal.Pending(ctx) {
		if err != nil {
			return fmt.Errorf("what earlier runs left cannot be read from the journal: %w", err)
		}
		if in.Process != c.process && in.BaseURL == c.baseURL {
			left = append(left, &openIntent{Intent: in, durable: true, unknown: true})
		}
	}
	for _, in := range left {
		if c.unsettled.open.find(in.ID) == nil {
			c.unsettled.open.put(in)
		}
	}
	c.unsettled.loaded = true
	return nil
}

// guardUnsettled refuses entries beside a write whose fate is not known.
func (c *core) guardUnsettled(ctx context.Context, w Write) error {
	if !w.Entry || w.Environment != EnvLive || w.skipUnsettled {
		return nil
	}
	if err := c.loadUnsettled(ctx); err != nil {
		return &GuardError{Kind: ErrJournal, Err: err}
	}
	if ids := c.unsettled.inSymbol(w.Account, w.Symbol); len(ids) > 0 {
		return &GuardError{Kind: ErrUnsettled, Reason: fmt.Sprintf("intent %s: resolve or acknowledge it first", ids[0])}
	}
	return nil
}
