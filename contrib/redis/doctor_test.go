package redis

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/doctor"
)

// found is the first line of a check.
func found(t testing.TB, lines []doctor.Line, check string) doctor.Line {
	t.Helper()
	for _, l := range lines {
		if l.Check == check {
			return l
		}
	}
	t.Fatalf("no line %s in %v", check, lines)
	return doctor.Line{}
}

// The doctor names what is wrong with a Redis; each breakage has its line, and what to do. A sound one has
// none that is worse than ok.
func TestFound25_TheDoctorNamesEachBrokenRedis(t *testing.T) {
	locked := func(t *testing.T, s *realServer) {
		require.NoError(t, s.admin().ConfigSet(context.Background(), "requirepass", "right").Err())
	}
	for name, row := range map[string]struct {
		args   []string
		o      goredis.Options
		breaks func(t *testing.T, s *realServer)
		check  string
		status doctor.Status
		says   string
	}{
		"a wrong password":         {o: goredis.Options{Password: "wrong"}, breaks: locked, check: "redis-answer", status: doctor.Fail, says: "WRONGPASS"},
		"no password":              {breaks: locked, check: "redis-answer", status: doctor.Fail, says: "NOAUTH"},
		"away":                     {breaks: func(_ *testing.T, s *realServer) { s.kill() }, check: "redis-answer", status: doctor.Fail, says: "refused"},
		"not acknowledged":         {breaks: func(_ *testing.T, s *realServer) { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }, check: "redis-answer", status: doctor.Fail, says: "does not acknowledge"},
		"too few replicas":         {args: []string{"--min-replicas-to-write", "1"}, check: "redis-writes", status: doctor.Fail, says: "NOREPLICAS"},
		"a replica":                {args: []string{"--replicaof", "127.0.0.1", "1", "--replica-serve-stale-data", "yes"}, check: "redis-writes", status: doctor.Fail, says: "READONLY"},
		"a policy that drops keys": {args: []string{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}, check: "redis-memory", status: doctor.Fail, says: "allkeys-lru"},
		"a policy that would":      {args: []string{"--maxmemory-policy", "volatile-ttl"}, check: "redis-memory", status: doctor.Warn, says: "volatile-ttl"},
		"nearly full":              {args: []string{"--maxmemory", "1100kb", "--maxmemory-policy", "noeviction"}, check: "redis-memory", status: doctor.Warn, says: "are used"},
		"nothing is kept":          {check: "redis-persistence", status: doctor.Warn, says: "a restart loses"},
		"a save that fails": {breaks: func(t *testing.T, s *realServer) {
			require.NoError(t, os.Mkdir(filepath.Join(s.dir, "dump.rdb"), 0o700))
			admin := s.admin()
			admin.BgSave(context.Background())
			require.Eventually(t, func() bool {
				text, _ := admin.Info(context.Background(), "persistence").Result()
				return strings.Contains(text, "rdb_last_bgsave_status:err")
			}, time.Minute, 10*time.Millisecond)
		}, check: "redis-persistence", status: doctor.Fail, says: "last save failed"},
		"a key of another type": {breaks: func(t *testing.T, s *realServer) {
			require.NoError(t, s.admin().Set(context.Background(), "trading:ratelimit:{desk}:key/x:under-way", "1", 0).Err())
		}, check: "redis-keys", status: doctor.Fail, says: "is a string, and should be a zset"},
		"a user that may not": {breaks: func(t *testing.T, s *realServer) {
			require.NoError(t, s.admin().Do(context.Background(), "ACL", "SETUSER", "default", "-eval").Err())
		}, check: "redis-writes", status: doctor.Fail, says: "NOPERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startReal(t, row.args...)
			if row.breaks != nil {
				row.breaks(t, s)
			}
			row.o.Addr, row.o.ContextTimeoutEnabled = s.addr(), true
			client := goredis.NewClient(&row.o)
			defer client.Close()
			l := found(t, Doctor(t.Context(), client, "desk"), row.check)
			assert.Equal(t, row.status, l.Status, "%v", l)
			assert.Contains(t, l.Saw, row.says)
			assert.NotEmpty(t, l.Do, "what to do")
		})
	}
	t.Run("a sound one", func(t *testing.T) {
		s := startReal(t, "--appendonly", "yes")
		store := openStore(t, s.client())
		_, err := store.reserve(t.Context(), 10)
		require.NoError(t, err)
		for _, l := range Doctor(t.Context(), s.client(), "desk") {
			assert.Equal(t, doctor.OK, l.Status, "%v", l)
		}
	})
	t.Run("an address of nobody", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		client := goredis.NewClient(&goredis.Options{Addr: listener.Addr().String(), ContextTimeoutEnabled: true})
		defer client.Close()
		l := found(t, Doctor(t.Context(), client, ""), "redis-answer")
		assert.Equal(t, doctor.Fail, l.Status)
		assert.Contains(t, l.Saw, "does not acknowledge")
	})
}
