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
	mostKeyless = 8  // requests under way of anybody, without a key
	perKey      = 600
	perClass    = 150
	perPro      = 20

	// What reads and entries leave of each limit to exits, here and in the client, and what exits that
	// wait leave of that to what gets out at once, in percent of the limit.
	keptForExits  = 25
	keptForCloses = 5
	// What a bot has for its exits however many bots there are, in percent of the limit.
	leastForExits = 10
	// What is not lent to reads and entries, for what the client itself asks, in percent of its limit.
	keptForClient = 15
)

// shares divides the rate limits of the service among the local keys, so that a greedy bot holds
// up none but itself. Half of what a key does not use is lent to the others.
type shares struct {
	keys  *localkey.File
	store ratelimit.Store

	mu   sync.Mutex
	bots map[string]*share
	lend sync.Mutex    // who has it counts what is free, and takes of it
	open chan struct{} // a place for each request without a key
}

// share is what a bot uses at the moment.
type share struct {
	reads, exits int         // under way; entries are among the reads
	refused      []time.Time // of the last second
}

func newShares(keys *localkey.File) *shares {
	return &shares{keys: keys, store: ratelimit.NewMemoryStore(), bots: map[string]*share{}, open: make(chan struct{}, mostKeyless)}
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
	case q.exits():
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

// limit is one limit of the service as a request counts against it. Exits have parts of their own,
// which what else a bot asks for does not use up.
type limit struct {
	name  string
	limit int
	kept  int    // what the request leaves of the limit to those that come before it
	asks  int    // what of it is not lent, for what the client itself asks
	whole int    // what is divided among the bots
	part  int    // what one of them has
	own   string // begins the names of the buckets of the bots
	bots  []string
	of    string // whose request it is
}

// limitOf returns a limit for a request.
func limitOf(name string, most int, q *request, bots []string) limit {
	l := limit{name: name, limit: most, whole: most, own: "/" + name, bots: bots, of: q.bot.Name}
	if q.exits() {
		l.own += " of exits"
		l.part = max(1, most/max(1, len(bots)), most*leastForExits/100)
		return l
	}
	l.kept = most * keptForExits / 100
	l.whole -= l.kept
	l.part = max(1, l.whole/max(1, len(bots)))
	return l
}

// bucket is a bot's part.
func (l limit) bucket(bot string) ratelimit.Bucket {
	return ratelimit.Bucket{Name: bot + l.own, Limit: l.part, Window: time.Minute}
}

// all is what everybody takes of it. No name of a bot is empty.
func (l limit) all(reserve int) ratelimit.Need {
	return ratelimit.Need{Bucket: ratelimit.Bucket{Name: "/" + l.name, Limit: l.limit, Window: time.Minute}, Reserve: reserve}
}

// exits reports whether a request is a write that cannot add exposure.
func (q *request) exits() bool { return q.write && q.kind != hearing.Entry }

// closes reports whether a write gets out at once.
func (q *request) closes() bool { return q.exits() && (q.part != "" || q.adds && !q.waits) }

// owned is a place in the bot's own part.
func (l limit) owned() []ratelimit.Need {
	return []ratelimit.Need{{Bucket: l.bucket(l.of)}, l.all(l.kept)}
}

// lent is a place in what the others do not use: they keep half of it, and the client a part for
// itself.
func (l limit) lent(ctx context.Context, store ratelimit.Store) []ratelimit.Need {
	buckets := make([]ratelimit.Bucket, 0, len(l.bots))
	for _, bot := range l.bots {
		if bot != l.of {
			buckets = append(buckets, l.bucket(bot))
		}
	}
	usages, _ := store.Usage(ctx, buckets) // a store in memory has no error
	twice := 0
	for _, u := range usages {
		twice += max(2*u.Left-l.part, 0)
	}
	return []ratelimit.Need{l.all(l.kept + l.asks + min(twice, l.whole)/2)} // of many bots the parts are more than there is
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
				needs = append(needs, l.owned()...)
			} else {
				needs = append(needs, l.lent(ctx, s.store)...)
			}
		}
		got, _ := s.store.Take(ctx, "", needs, time.Minute) // likewise
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
	if got, _ := s.store.Take(ctx, "", all, time.Minute); got.Wait == 0 { // likewise
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
	requests := limitOf(string(q.keyEnv())+" requests", perKey, q, bots)
	switch {
	case !q.exits():
		requests.asks = perKey * keptForClient / 100
	case !q.closes():
		requests.kept = perKey * keptForCloses / 100
	}
	limits := []limit{requests}
	if q.write && q.env == live {
		most := perClass
		if q.pro {
			most = perPro
		}
		limits = append(limits, limitOf(q.class, most, q, bots))
	}
	return limits
}

// share lets a request begin, or answers it.
func (s *Server) share(ctx context.Context, q *request) (release func(), no *reply) {
	if q.keyless {
		select {
		case s.shares.open <- struct{}{}:
			return func() { <-s.shares.open }, nil
		default:
			r := own(http.StatusTooManyRequests, trading.CodeRateLimited, "Too many requests.", "too many requests without a key are under way").after(time.Second, s.random)
			return nil, &r
		}
	}
	release, wait, why := s.shares.take(ctx, q, time.Now())
	if why != "" {
		r := q.held(own(http.StatusTooManyRequests, trading.CodeRateLimited, "Too many requests.", why).after(wait, s.random))
		return nil, &r
	}
	return release, nil
}
