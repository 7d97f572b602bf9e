package files_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/sidecar"
)

// process is one that has opened what is in a folder, in a way that keeps to the promise only if
// its files do.
type process interface {
	use() error  // does what relies on the file; an error says that it does not
	stop() error // ends it
}

// user is whoever relies on a file.
type user struct {
	file  string                                                      // its name, in the folder; a pattern if it is made up
	start func(t *testing.T, dir string, first bool) (process, error) // first makes the file
}

// users are all files that are kept open or trusted.
var users = map[string]user{
	"journal":            {"bot.journal", openJournal(false)},
	"journal's lock":     {"bot.journal.lock", openJournal(false)},
	"journal's gap":      {"bot.journal.gap", openJournal(true)},
	"protection's state": {"acc_1.state", openProtection},
	"protection's lock":  {"lock", openProtection},
	"audit":              {"audit.jsonl", openAudit},
	"audit's lock":       {"audit.jsonl.lock", openAudit},
	"sidecar's answers":  {"answers", openSidecar(false)},
	"sidecar's keys":     {"keys", openSidecar(false)},
	"sidecar's halt":     {"halt", openSidecar(true)},
	"sidecar's account":  {"locks/*", openSidecar(false)},
	"key file":           {"trading.keys", readsAs(disk.NoAccess)}, // as cmd/trading reads it
	"note of a visit":    {"visit.note", readsAs(disk.NoWrite)},    // as observe reads it
	"profile":            {"service.json", readsProfile},
}

type journalProcess struct {
	t   *testing.T
	log *journal.Log
	gap bool // it is to say that something is missing
}

func openJournal(gap bool) func(t *testing.T, dir string, first bool) (process, error) {
	return func(t *testing.T, dir string, first bool) (process, error) {
		log, err := journal.Open(filepath.Join(dir, "bot.journal"), journal.WithLockTimeout(0))
		if err != nil {
			return nil, err
		}
		if gap && first {
			require.NoError(t, log.SetGap(true))
		}
		return &journalProcess{t, log, gap}, nil
	}
}

// use appends what makes the file grow, resolved so that it is not kept.
func (p *journalProcess) use() error {
	if p.gap {
		if missing, err := p.log.Gap(); err != nil || !missing {
			return errors.Join(err, errors.New("that an exit is missing was forgotten"))
		}
		return nil
	}
	return p.log.Append(p.t.Context(), true, journal.Record{Intent: rand.Text(), Final: true, Data: make([]byte, 300<<10)})
}

func (p *journalProcess) stop() error { return p.log.Close() }

type protectProcess struct{ p *protect.Protection }

func openProtection(t *testing.T, dir string, first bool) (process, error) {
	_, client := connect(t)
	p, err := protect.New(protect.Options{Client: client, Accounts: []trading.AccountID{"acc_1"}, Dir: dir})
	if err != nil {
		return nil, err
	}
	s, err := p.State("acc_1")
	switch {
	case first:
	case err != nil:
		return nil, errors.Join(err, p.Close())
	case strings.Contains(s.Reason, "corrupt"):
		return nil, errors.Join(errors.New("halted: "+s.Reason), p.Close())
	case !s.Manual:
		return nil, errors.Join(errors.New("the halt was forgotten"), p.Close())
	}
	return &protectProcess{p}, nil
}

func (p *protectProcess) use() error  { return p.p.Halt("acc_1", "a test") }
func (p *protectProcess) stop() error { return p.p.Close() }

type auditProcess struct {
	t     *testing.T
	audit *record.Audit
}

func openAudit(t *testing.T, dir string, _ bool) (process, error) {
	a, err := record.OpenAudit(filepath.Join(dir, "audit.jsonl"), record.Options{})
	if err != nil {
		return nil, err
	}
	return &auditProcess{t, a}, nil
}

// use records a call, and asks as an entry does.
func (p *auditProcess) use() error {
	h := p.audit.Hooks()
	c := trading.Call{Operation: trading.OpOrder, Write: true, Body: make([]byte, 8<<10)}
	h.CallDone(h.CallStart(p.t.Context(), c), c, trading.Done{})
	return p.audit.Guard()(p.t.Context(), trading.Write{Entry: true})
}

func (p *auditProcess) stop() error { return p.audit.Close() }

type sidecarProcess struct {
	server *sidecar.Server
	key    string
	halted bool // it is to refuse entries
}

func openSidecar(halted bool) func(t *testing.T, dir string, first bool) (process, error) {
	return func(t *testing.T, dir string, first bool) (process, error) {
		sim, _ := connect(t)
		c := sidecar.Config{
			BaseURL: sim.URL(), Dir: dir, Locks: filepath.Join(dir, "locks"), Journal: journal.NewMemory(),
			Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())},
		}
		p := &sidecarProcess{halted: halted}
		secret := dir + ".secret" // the bot has it
		if first {
			key, err := sidecar.AddKey(dir, sidecar.Key{Name: "grid", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
			require.NoError(t, errors.Join(err, os.WriteFile(secret, []byte(key), 0o600)))
		}
		text, err := os.ReadFile(secret)
		require.NoError(t, err)
		p.key = string(text)
		if p.server, err = sidecar.New(c); err != nil {
			return nil, err
		}
		if first && halted {
			halt(t, p.server)
		}
		return p, nil
	}
}

// use places an order, as a bot.
func (p *sidecarProcess) use() error {
	r := httptest.NewRequest(http.MethodPost, "/v1/orders", strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
	r.Header.Set("X-API-Key", p.key)
	w := httptest.NewRecorder()
	p.server.ServeHTTP(w, r)
	var refusal struct{ Error, Reason string }
	if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil {
		return err
	}
	isHalt := strings.Contains(refusal.Reason, "a test")
	switch {
	case p.halted && isHalt:
		return nil
	case p.halted:
		return fmt.Errorf("the halt was forgotten: %d %s %s", w.Code, refusal.Error, refusal.Reason)
	case w.Code != http.StatusOK:
		return fmt.Errorf("%d %s %s", w.Code, refusal.Error, refusal.Reason)
	}
	return nil
}

func (p *sidecarProcess) stop() error { return p.server.Close() }

// reading is a process that reads a file anew each time.
type reading func() error

func (r reading) use() error { return r() }
func (reading) stop() error  { return nil }

func readsAs(not os.FileMode) func(t *testing.T, dir string, first bool) (process, error) {
	return func(t *testing.T, dir string, first bool) (process, error) {
		path := filepath.Join(dir, map[os.FileMode]string{disk.NoAccess: "trading.keys", disk.NoWrite: "visit.note"}[not])
		if first {
			require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
		}
		return reading(func() error {
			_, _, err := disk.Read(path, 1<<10, not)
			return err
		}), nil
	}
}

func readsProfile(t *testing.T, dir string, first bool) (process, error) {
	path := filepath.Join(dir, "service.json")
	if first {
		require.NoError(t, (&profile.Profile{Version: profile.Version}).Save(path))
	}
	return reading(func() error { return rig.Only(profile.Load(path)) }), nil
}
