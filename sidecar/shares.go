package sidecar

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// What one local key may ask for.
const (
	mostAtOnce  = 32 // calls under way; exits have as many again
	mostHeldUp  = 24 // of those exits, what does not get out at once
	mostRefused = 10 // entries a second that were refused
	perKey      = 600
	perClass    = 150
	perPro      = 20

	// What a key keeps of its share of all requests for its exits, and of that for what gets out
	// at once, in percent of the share.
	keptForExit  = 10
	keptForClose = 5
	// What is not lent, for what the client itself asks: in percent of the limit.
	keptForClient = 15
)

// shares divides the rate limits of the service among the local keys, so that a greedy bot holds
// up none but itself. Half of what a key does not use is lent to the others.
type shares struct {
	keys  *localkey.File
	store ratelimit.Store

	mu   sync.Mutex
	bots map[string]*share
	lend sync.Mutex // who has it counts what is free, and takes of it
}

// share is what a bot uses at the moment.
type share struct {
	reads, exits int         // under way; entries are among the reads
	refused      []time.Time // of the last second
}

func newShares(keys *localkey.File) *shares {
	return &shares{keys: keys, store: ratelimit.NewMemoryStore(), bots: map[string]*share{}}
}

// take lets a request begin, or says how long it has to wait and why. release ends it.
func (s *shares) take(ctx context.Context, q *request, now time.Time) (release func(), wait time.Duration, why string) {
	s.mu.Lock()
	bot := s.bots[q.bot.Name]
	if bot == nil {
		bot = &share{}
		s.bots[q.bot.Name] = bot
	}
	under, most := &bot.reads, mostAtOnce
	switch {
	case q.closes():
		under = &bot.exits
	case q.write && q.kind != hearing.Entry:
		under, most = &bot.exits, mostHeldUp
	}
	bot.refused = slices.DeleteFunc(bot.refused, func(at time.Time) bool { return now.Sub(at) >= time.Second })
	switch {
	case *under >= most:
		why = "the local key has too many calls under way"
	case q.kind == hearing.Entry && len(bot.refused) >= mostRefused:
		why = "too many entries of the local key were refused in the last second"
	default:
		*under++
	}
	s.mu.Unlock()
	if why != "" {
		return nil, time.Second, why
	}
	needs, grant := s.grant(ctx, q)
	release = func() {
		s.mu.Lock()
		*under--
		s.mu.Unlock()
		if grant.Wait == 0 {
			_ = s.store.Return(context.WithoutCancel(ctx), grant.Slot, needs, true) // the same
		}
	}
	if grant.Wait > 0 {
		release()
		return nil, grant.Wait, "the local key has used up its share of the rate limit " + grant.Bucket
	}
	return release, 0, ""
}

// refused notes an entry that was refused.
func (s *shares) refused(q *request, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bot := s.bots[q.bot.Name]; bot != nil && q.kind == hearing.Entry {
		bot.refused = append(bot.refused, now)
	}
}

// limit is one limit of the service, divided among some bots.
type limit struct {
	name  string
	limit int
	bots  []string
	of    string // whose request it is
	exits bool   // of one kind of writes alone: nothing of it is kept for others
}

func (l limit) part() int { return max(1, l.limit/max(1, len(l.bots))) }

// bucket is a bot's part.
func (l limit) bucket(bot string) ratelimit.Bucket {
	return ratelimit.Bucket{Name: bot + "/" + l.name, Limit: l.part(), Window: time.Minute}
}

// all is what everybody takes of it. No name of a bot is empty.
func (l limit) all(reserve int) ratelimit.Need {
	return ratelimit.Need{Bucket: ratelimit.Bucket{Name: "/" + l.name, Limit: l.limit, Window: time.Minute}, Reserve: reserve}
}

// kept is what a bot keeps of its part for requests that come before this one.
func (l limit) kept(q *request) int {
	switch {
	case l.exits || q.closes():
		return 0
	case q.write && q.kind != hearing.Entry:
		return l.part() * keptForClose / 100
	default:
		return l.part() * keptForExit / 100
	}
}

// closes reports whether a write gets out at once.
func (q *request) closes() bool {
	return q.write && q.kind != hearing.Entry && (q.part != "" || q.adds && !q.waits)
}

// own is a part of the bot's own part.
func (l limit) own(q *request) []ratelimit.Need {
	return []ratelimit.Need{{Bucket: l.bucket(l.of), Reserve: l.kept(q)}, l.all(l.kept(q) * len(l.bots))}
}

// lent is a part of what the others do not use: they keep half of their parts, and what they keep
// for their exits, and the client a part for itself.
func (l limit) lent(ctx context.Context, q *request, store ratelimit.Store) []ratelimit.Need {
	kept := l.kept(q)
	if !l.exits {
		kept += l.limit * keptForClient / 100
	}
	buckets := make([]ratelimit.Bucket, 0, len(l.bots))
	for _, bot := range l.bots {
		if bot != l.of {
			buckets = append(buckets, l.bucket(bot))
		}
	}
	usages, _ := store.Usage(ctx, buckets) // a store in memory has no error
	for _, u := range usages {
		kept += max(u.Left-l.part()/2, l.part()*keptForExit/100)
	}
	return []ratelimit.Need{l.all(kept)}
}

// grant takes what a request counts against, of the bot's own parts or lent.
func (s *shares) grant(ctx context.Context, q *request) (needs []ratelimit.Need, grant ratelimit.Grant) {
	limits := s.limits(q)
	s.lend.Lock()
	defer s.lend.Unlock()
	for of := range 1 << len(limits) { // one bit a limit: it is lent
		needs = nil
		for i, l := range limits {
			if of>>i&1 == 0 {
				needs = append(needs, l.own(q)...)
			} else {
				needs = append(needs, l.lent(ctx, q, s.store)...)
			}
		}
		got, _ := s.store.Take(ctx, needs, time.Minute) // likewise
		if got.Wait == 0 {
			return needs, got
		}
		if of == 0 {
			grant = got // the bot hears of its own part
		}
	}
	return nil, grant
}

// countedKey is in the context of the call that a bot asks for: its *atomic.Bool is set by the first
// attempt, which the bot's part has counted.
type countedKey struct{}

func counted(ctx context.Context) context.Context {
	return context.WithValue(ctx, countedKey{}, new(atomic.Bool))
}

// noteAttempt counts what the client sends beside what bots ask for: reads before an order, and what
// is sent again.
func (s *shares) noteAttempt(ctx context.Context, c trading.Call, a trading.Attempt) {
	mine, ok := ctx.Value(countedKey{}).(*atomic.Bool)
	if of, is := ctx.Value(attendedKey{}).(*attended); is && of.op != c.Operation {
		ok = false
	}
	if !a.Written || ok && mine.CompareAndSwap(false, true) {
		return
	}
	all := []ratelimit.Need{limit{name: string(c.Environment) + " requests", limit: perKey}.all(0)}
	if got, _ := s.store.Take(ctx, all, time.Minute); got.Wait == 0 { // likewise
		_ = s.store.Return(context.WithoutCancel(ctx), got.Slot, all, true) // likewise
	}
}

// limits are those that a request counts against.
func (s *shares) limits(q *request) []limit {
	all, _ := s.keys.Keys() // who asks was found among them a moment ago
	var bots []string
	for _, k := range all {
		if k.Live == q.bot.Live && k.TakenBack.IsZero() {
			bots = append(bots, k.Name)
		}
	}
	limits := []limit{{name: string(q.keyEnv()) + " requests", limit: perKey, bots: bots, of: q.bot.Name}}
	if q.write && q.env == live {
		most := perClass
		if q.pro {
			most = perPro
		}
		limits = append(limits, limit{name: q.class, limit: most, bots: bots, of: q.bot.Name, exits: true})
	}
	return limits
}

// share lets a request begin, or answers it.
func (s *Server) share(ctx context.Context, q *request) (release func(), no *reply) {
	if q.keyless {
		return func() {}, nil
	}
	release, wait, why := s.shares.take(ctx, q, time.Now())
	if why != "" {
		r := q.held(own(http.StatusTooManyRequests, trading.CodeRateLimited, "Too many requests.", why).after(wait, s.random))
		return nil, &r
	}
	return release, nil
}
