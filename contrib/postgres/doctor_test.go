package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// The doctor names what is wrong with a database, its role, the way to it and the lease; each breakage
// has its line, and what to do. A sound set-up has none that is worse than ok.
func TestFound25_TheDoctorNamesEachBrokenSetUp(t *testing.T) {
	at := database(t)
	execute(t, at, "DROP ROLE IF EXISTS looked; CREATE ROLE looked LOGIN; "+Grants("looked"))
	asBot := strings.Replace(at, "postgres@", "looked@", 1)
	o := options()
	opened(t, asBot, o)
	other := options()
	opened(t, asBot, other)
	bare := strings.Replace(shared.url("looked"), "/postgres?", "/template1?", 1)
	inTerminal := func(statement string) func(t *testing.T) {
		return func(t *testing.T) { execute(t, at, statement) }
	}
	for name, row := range map[string]struct {
		url    string
		o      func(*Options)
		breaks func(t *testing.T)
		mends  string
		check  string
		status doctor.Status
		says   string
	}{
		"an address that cannot be read": {url: "postgres://bot@db:port/x", check: "fleet-database", status: doctor.Fail, says: "cannot be read"},
		"a database that is away":        {url: fmt.Sprintf("postgres://looked@127.0.0.1:%d/x?sslmode=disable", freePort(t)), check: "fleet-database", status: doctor.Fail, says: "refused"},
		"a host that is none":            {url: "postgres://looked@database.invalid/x?sslmode=disable", check: "fleet-database", status: doctor.Fail, says: "database.invalid"},
		"a role that is none":            {url: strings.Replace(at, "postgres@", "nobody@", 1), check: "fleet-database", status: doctor.Fail, says: "nobody"},
		"another database":               {url: strings.Replace(shared.url("looked"), "/postgres?", "/nowhere?", 1), check: "fleet-database", status: doctor.Fail, says: "nowhere"},
		"no tables":                      {url: bare, check: "fleet-tables", status: doctor.Fail, says: "missing"},
		"a role that lacks a privilege": {
			breaks: inTerminal("REVOKE INSERT ON trading.record FROM looked"), mends: "GRANT INSERT ON trading.record TO looked",
			check: "fleet-role", status: doctor.Fail, says: "INSERT ON trading.record",
		},
		"a role that may too much": {url: at, check: "fleet-role", status: doctor.Warn, says: "DELETE ON trading.record"},
		"a short time-out": {
			breaks: inTerminal("ALTER ROLE looked SET statement_timeout = '500ms'"), mends: "ALTER ROLE looked RESET statement_timeout",
			check: "fleet-timeouts", status: doctor.Fail, says: "statement_timeout is 500ms",
		},
		"a terminal may leave a transaction open": {
			breaks: inTerminal("ALTER ROLE looked RESET idle_in_transaction_session_timeout"), mends: "ALTER ROLE looked SET idle_in_transaction_session_timeout = '5s'",
			check: "fleet-timeouts", status: doctor.Warn, says: "idle_in_transaction",
		},
		"another isolation": {
			breaks: inTerminal("ALTER ROLE looked SET default_transaction_isolation = 'serializable'"), mends: "ALTER ROLE looked RESET default_transaction_isolation",
			check: "fleet-settings", status: doctor.Fail, says: "serializable",
		},
		"a standby": {
			breaks: inTerminal("ALTER ROLE looked SET default_transaction_read_only = on"), mends: "ALTER ROLE looked RESET default_transaction_read_only",
			check: "fleet-settings", status: doctor.Fail, says: "takes no writes",
		},
		"a failover that is said to lose nothing": {o: func(o *Options) { o.FailoverLosesNothing = true }, check: "fleet-standby", status: doctor.Fail, says: "no standby is waited for"},
		"an account of another lease":             {o: func(o *Options) { o.Accounts = other.Accounts }, check: "fleet-accounts", status: doctor.Fail, says: other.Name},
		"no lease of the name":                    {o: func(o *Options) { o.Name = "none" }, check: "fleet-lease", status: doctor.Warn, says: "no lease"},
		"another bot has it":                      {check: "fleet-lease", status: doctor.OK, says: "held by"},
		"a halt": {
			breaks: inTerminal("UPDATE trading.lease SET halt = 'maintenance' WHERE name = '" + o.Name + "'"), mends: "UPDATE trading.lease SET halt = NULL",
			check: "fleet-lease", status: doctor.Warn, says: "maintenance",
		},
		"a failover a moment ago": {
			breaks: inTerminal("UPDATE trading.lease SET lost_at = now()"), mends: "UPDATE trading.lease SET lost_at = NULL",
			check: "fleet-failover", status: doctor.Warn, says: "failed over",
		},
	} {
		t.Run(name, func(t *testing.T) {
			looked := o
			if row.o != nil {
				row.o(&looked)
			}
			if row.breaks != nil {
				row.breaks(t)
				defer execute(t, at, row.mends)
			}
			url := asBot
			if row.url != "" {
				url = row.url
			}
			l := found(t, Doctor(t.Context(), url, looked), row.check)
			assert.Equal(t, row.status, l.Status, "%v", l)
			assert.Contains(t, l.Saw, row.says)
			if row.status != doctor.OK {
				assert.NotEmpty(t, l.Do, "what to do")
			}
		})
	}
	t.Run("a sound one", func(t *testing.T) {
		for _, l := range Doctor(t.Context(), asBot, o) {
			assert.Equal(t, doctor.OK, l.Status, "%v", l)
		}
	})
	t.Run("a locked lease", func(t *testing.T) {
		release := lockLease(t, at, o.Name)
		l := found(t, Doctor(t.Context(), asBot, o), "fleet-locks")
		release()
		assert.Equal(t, doctor.Fail, l.Status, "%v", l)
	})
	t.Run("nobody holds it", func(t *testing.T) {
		for _, was := range []struct {
			lease  string
			status doctor.Status
			says   string
		}{{"released = true", doctor.Warn, "was released"}, {"released = false, renewed_at = now() - interval '1 hour'", doctor.Fail, "has been silent"}} {
			alone := options()
			require.NoError(t, opened(t, asBot, alone).Close())
			execute(t, at, "UPDATE trading.lease SET "+was.lease+" WHERE name = '"+alone.Name+"'")
			l := found(t, Doctor(t.Context(), asBot, alone), "fleet-lease")
			assert.Equal(t, was.status, l.Status, "%v", l)
			assert.Contains(t, l.Saw, was.says)
		}
	})
}

// A password that is wrong, a standby that nobody waits for, and a clock an hour off.
func TestFound25_TheDoctorLooksAtAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	primary, standby := p.primary.url("postgres"), p.standby.url("postgres")
	assert.Equal(t, doctor.Warn, found(t, Doctor(t.Context(), primary, Options{}), "fleet-standby").Status)
	l := found(t, Doctor(t.Context(), standby, Options{}), "fleet-settings")
	assert.Equal(t, doctor.Fail, l.Status)
	assert.Contains(t, l.Saw, "standby")

	clocked := clockedServer(t)
	assert.Equal(t, doctor.OK, found(t, Doctor(t.Context(), clocked.url("postgres"), Options{}), "fleet-clock").Status)
	require.NoError(t, os.WriteFile(filepath.Join(clocked.dir, "clock"), []byte("+3600"), 0o644))
	assert.Equal(t, doctor.Warn, found(t, Doctor(t.Context(), clocked.url("postgres"), Options{}), "fleet-clock").Status)
}

// A pooler is seen, and its mode.
func TestFound25_TheDoctorSeesAPooler(t *testing.T) {
	for mode, want := range map[string]doctor.Status{"transaction": doctor.OK, "session": doctor.Warn, "statement": doctor.Fail} {
		t.Run(mode, func(t *testing.T) {
			s := ownServer(t)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			lines := Doctor(ctx, poolerIn(t, s, "postgres", mode), Options{})
			l := found(t, lines, "fleet-pooler")
			assert.Equal(t, want, l.Status, "%v", l)
			assert.Contains(t, l.Saw, "pooler is in front")
		})
	}
}
