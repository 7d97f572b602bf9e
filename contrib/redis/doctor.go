package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tradingapi/trading-go/doctor"
)

// Doctor looks at what a store needs of its Redis, for Options.More of package doctor: whether it answers
// and takes writes, what it forgets, and the keys of an owner; of none if owner is empty. It writes nothing.
func Doctor(ctx context.Context, client goredis.UniversalClient, owner string) []doctor.Line {
	l := &looks{}
	if !l.answers(ctx, client) {
		return l.lines
	}
	l.takesWrites(ctx, client)
	l.info(ctx, client)
	if owner != "" {
		l.keys(ctx, client, "trading:ratelimit:{"+owner+"}:")
	}
	return l.lines
}

// looks are the lines of one run.
type looks struct{ lines []doctor.Line }

func (l *looks) add(check string, status doctor.Status, do, format string, args ...any) {
	l.lines = append(l.lines, doctor.Line{Subject: "redis", Check: "redis-" + check, Status: status, Saw: fmt.Sprintf(format, args...), Do: do})
}

func (l *looks) ok(check, format string, args ...any) { l.add(check, doctor.OK, "", format, args...) }

func (l *looks) skip(check string, err error) {
	l.add(check, doctor.Skipped, "", "it cannot be seen: %v", err)
}

func (l *looks) warn(check, do, format string, args ...any) {
	l.add(check, doctor.Warn, do, format, args...)
}

func (l *looks) fail(check, do, format string, args ...any) {
	l.add(check, doctor.Fail, do, format, args...)
}

// patience is how long a client waits for an answer.
const patience = time.Second

// answers asks for a sign of life.
func (l *looks) answers(ctx context.Context, client goredis.UniversalClient) bool {
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	err := client.Ping(within).Err()
	took := time.Since(began).Round(time.Millisecond)
	timeout := net.Error(nil)
	switch says := refusal(err); {
	case err == nil && took > patience:
		l.fail("answer", "A client waits for a second, and then keeps to its part of the limit.", "it answers after %s", took)
	case err == nil:
		l.ok("answer", "it answers within %s", took)
		return true
	case strings.HasPrefix(says, "WRONGPASS"), strings.HasPrefix(says, "NOAUTH"), strings.HasPrefix(says, "ERR Client sent AUTH"), strings.HasPrefix(says, "ERR AUTH"):
		l.fail("answer", "Check the user and the password of the client.", "it refuses the login: %s", says)
	case strings.HasPrefix(says, "LOADING"):
		l.fail("answer", "Wait until it has loaded what it kept.", "it is loading: %s", says)
	case says != "":
		l.fail("answer", "", "it refuses: %s", says)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		l.fail("answer", "Look for a frozen server, a full backlog, or a way that drops packets.", "it does not acknowledge: no answer within %s", took)
	default:
		l.fail("answer", "Start it, or correct the address: meanwhile each process keeps to its part of the limit.", "%v", err)
	}
	return false
}

// refusal is the text of an error that Redis itself gave.
func refusal(err error) string {
	if of := goredis.Error(nil); errors.As(err, &of) && !errors.Is(err, goredis.Nil) {
		return of.Error()
	}
	return ""
}

// nothing is a command that writes, and changes nothing: of a key that is not there.
const nothing = `return redis.call('PEXPIRE', KEYS[1], 1)`

// takesWrites runs a script as the store does. A server that takes no writes refuses it.
func (l *looks) takesWrites(ctx context.Context, client goredis.UniversalClient) {
	err := client.Eval(ctx, nothing, []string{"trading:ratelimit:{doctor}:none"}).Err()
	switch says := refusal(err); {
	case err == nil:
		l.ok("writes", "it runs scripts, and takes writes")
	case strings.Contains(says, "READONLY"):
		l.fail("writes", "Give the client the address of the primary, or of the sentinels.", "it is a replica: %s", says)
	case strings.Contains(says, "NOREPLICAS"):
		l.fail("writes", "Start the replicas, or lower min-replicas-to-write.", "too few replicas acknowledge: %s", says)
	case strings.Contains(says, "MISCONF"):
		l.fail("writes", "Mend its disk, or set stop-writes-on-bgsave-error no: what the store keeps is a minute old.", "it cannot save, and takes no writes: %s", says)
	case strings.Contains(says, "NOPERM"):
		l.fail("writes", "Give the user the commands of the store's README, on trading:ratelimit:*.", "the user may not: %s", says)
	default:
		l.fail("writes", "", "no script runs: %v", err)
	}
}

// info is what the server says of itself.
func (l *looks) info(ctx context.Context, client goredis.UniversalClient) {
	text, err := client.Info(ctx).Result()
	if err != nil {
		for _, check := range []string{"version", "memory", "persistence"} {
			l.skip(check, err)
		}
		return
	}
	has := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			has[name] = value
		}
	}
	number := func(name string) int64 { n, _ := strconv.ParseInt(has[name], 10, 64); return n }

	major, _, _ := strings.Cut(has["redis_version"], ".")
	if n, err := strconv.Atoi(major); err == nil && n < 5 {
		l.fail("version", "Use Redis 5 or later.", "it is %s", has["redis_version"])
	} else {
		l.ok("version", "it is %s", has["redis_version"])
	}

	used, most, policy := number("used_memory"), number("maxmemory"), has["maxmemory_policy"]
	const nearly = 90
	switch {
	case policy == "":
		l.skip("memory", errors.New("it does not say"))
	case policy != "noeviction" && most > 0:
		l.fail("memory", "Set maxmemory-policy noeviction.", "maxmemory-policy is %s: it forgets slots that are taken, and then grants more than the limit", policy)
	case policy != "noeviction":
		l.warn("memory", "Set maxmemory-policy noeviction before somebody sets maxmemory.", "maxmemory-policy is %s, and maxmemory is not set", policy)
	case most > 0 && used*100 >= most*nearly:
		l.warn("memory", "Raise maxmemory: a full server takes no slots, and each process keeps to its part of the limit.", "%d of %d bytes are used", used, most)
	default:
		l.ok("memory", "noeviction, %d bytes are used", used)
	}

	switch {
	case has["rdb_last_bgsave_status"] == "err", has["aof_last_write_status"] == "err", has["aof_last_bgrewrite_status"] == "err":
		l.fail("persistence", "Mend its disk.", "the last save failed")
	case has["aof_enabled"] != "1":
		l.warn("persistence", "Set appendonly yes, or know that a restart forgets the slots of the last minute: then the service may answer 429.", "a restart loses what came since the last save")
	default:
		l.ok("persistence", "it keeps a log")
	}
}

// keys compares those of an owner with what the store keeps in them.
func (l *looks) keys(ctx context.Context, client goredis.UniversalClient, prefix string) {
	kinds := map[string]string{"under-way": "zset", "answered": "zset", "closed": "hash"}
	var wrong []string
	n := 0
	pattern := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, `\`, `\\`).Replace(prefix) + "*"
	keys := client.Scan(ctx, 0, pattern, 100).Iterator()
	for keys.Next(ctx) {
		n++
		kind, err := client.Type(ctx, keys.Val()).Result()
		if err != nil {
			l.skip("keys", err)
			return
		}
		want, ours := kinds[keys.Val()[strings.LastIndexByte(keys.Val(), ':')+1:]]
		if ours && kind != want && kind != "none" { // it has expired meanwhile
			wrong = append(wrong, fmt.Sprintf("%s is a %s, and should be a %s", keys.Val(), kind, want))
		}
	}
	slices.Sort(wrong)
	switch {
	case keys.Err() != nil:
		l.skip("keys", keys.Err())
	case len(wrong) > 0:
		l.fail("keys", "Delete them, and find who wrote them: the store fails with them.", "%s", strings.Join(wrong[:min(len(wrong), 3)], ", "))
	default:
		l.ok("keys", "%d keys of %s are as the store writes them", n, prefix)
	}
}
