package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// verbs are what a transcript says of its world, behind "% ".
var verbs = map[string]func(s *script, rest string){
	"real":        func(*script, string) {}, // "real time": without a clock of its own
	"replace":     (*script).replace,
	"bot":         (*script).bot,
	"wait":        func(s *script, rest string) { time.Sleep(duration(s.t, rest)) },
	"terminal":    func(s *script, _ string) { s.terminal = true },
	"script":      func(s *script, _ string) { s.terminal = false },
	"types":       (*script).writes,
	"env":         func(s *script, rest string) { s.env = append(s.env, rest) },
	"unset":       func(s *script, rest string) { s.unset(strings.Fields(rest)...) },
	"file":        (*script).file,
	"folder":      func(s *script, rest string) { require.NoError(s.t, os.MkdirAll(rest, 0o700)) },
	"mode":        (*script).mode,
	"description": (*script).description,
	"holds":       (*script).holds,
	"lists":       (*script).lists,
	"spoil":       (*script).spoil,
	"keep":        func(s *script, rest string) { s.keeps = rest },
	"thinks":      func(s *script, rest string) { s.thinks = duration(s.t, rest) },
	"audit":       (*script).audit,
	"trade":       func(s *script, rest string) { f := fields(s.t, rest, 4); s.sim.Trade(f[0], f[1], f[2], f[3]) },
	"mark": func(s *script, rest string) {
		f := strings.Fields(rest + " ")
		s.sim.SetMark(f[0], strings.Join(f[1:], ""))
	},
	"health":     func(s *script, rest string) { f := fields(s.t, rest, 2); s.sim.SetHealth(f[0], f[1]) },
	"fill-error": func(s *script, rest string) { f := fields(s.t, rest, 2); s.sim.SetFillError(f[0], f[1]) },
	"status":     func(s *script, rest string) { f := fields(s.t, rest, 2); s.sim.SetStatus(f[0], f[1]) },
	"revoke":     func(s *script, rest string) { s.sim.RevokeKey(rest) },
	"fault":      (*script).fault,
	"faults":     (*script).faults,
	"interrupt":  (*script).interrupt,
	"falls":      func(s *script, rest string) { n, err := strconv.Atoi(rest); require.NoError(s.t, err); s.falls(n) },
	"end":        func(s *script, _ string) { s.tell(s.endCommand()) },
	"busy":       func(s *script, _ string) { s.busy(); s.served() },
	"journal":    (*script).journal,
	"flight": func(s *script, rest string) {
		f := fields(s.t, rest, 3)
		flight(s.t, f[0], f[1] == "replayed", trading.Code(f[2]))
	},
	"days": (*script).days,
}

func fields(t *testing.T, rest string, n int) []string {
	t.Helper()
	f := strings.Fields(rest)
	require.Len(t, f, n, rest)
	return f
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func unquote(t *testing.T, text string) string {
	t.Helper()
	text, err := strconv.Unquote(text)
	require.NoError(t, err)
	return text
}

// writes is `% types "y\n"`: somebody is there, who types that, after `% thinks 59s` later.
func (s *script) writes(rest string) {
	s.terminal, s.types = true, unquote(s.t, rest)
	if s.thinks > 0 {
		s.in = slowReader{s.thinks, strings.NewReader(s.types)}
	}
}

// slowReader is somebody who thinks it over.
type slowReader struct {
	after time.Duration
	text  io.Reader
}

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(s.after)
	return s.text.Read(p)
}

// audit is `% audit PATH BYTES`: of an order that went well and a close that did not, in files of so many bytes.
func (s *script) audit(rest string) {
	f := fields(s.t, rest, 2)
	most, err := strconv.ParseInt(f[1], 10, 64)
	require.NoError(s.t, err)
	audit, err := record.OpenAudit(f[0], record.Options{MaxFile: most})
	require.NoError(s.t, err)
	client := tradingtest.Client(s.t, tradingsim.New(), trading.WithHooks(audit.Hooks()), trading.WithGuard(audit.Guard()))
	account := client.Live.Account("acc_1")
	_, err = account.PlaceOrder(s.ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithTag("red \x1b[31m"))
	require.NoError(s.t, err)
	_, err = account.ClosePosition(s.ctx, "ETH", trading.All)
	require.Error(s.t, err)
	require.NoError(s.t, client.Close())
	require.NoError(s.t, audit.Close())
}

func (s *script) unset(names ...string) {
	var kept []string
	for _, pair := range s.env {
		name, _, _ := strings.Cut(pair, "=")
		if len(names) > 0 && !slices.Contains(names, name) {
			kept = append(kept, pair)
		}
	}
	s.env = kept
}

// file is `% file PATH "text"`.
func (s *script) file(rest string) {
	path, text, _ := strings.Cut(rest, " ")
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(unquote(s.t, text)), 0o600))
}

// holds is `% holds PATH TEXT`: a file has a text.
func (s *script) holds(rest string) {
	f := fields(s.t, rest, 2)
	text, err := os.ReadFile(f[0])
	require.NoError(s.t, err)
	require.Contains(s.t, string(text), f[1])
}

// lists is `% lists FOLDER NAME...`: a folder has these files, and no others.
func (s *script) lists(rest string) {
	f := strings.Fields(rest)
	entries, err := os.ReadDir(f[0])
	require.NoError(s.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(s.t, f[1:], names)
}

// spoil is `% spoil PATTERN`: the one file of it has something else now.
func (s *script) spoil(pattern string) {
	files, err := filepath.Glob(pattern)
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	require.NoError(s.t, os.WriteFile(files[0], []byte("?"), 0o600))
}

// description is `% description PATH OLD => NEW`: of the service, with NEW where OLD is first.
func (s *script) description(rest string) {
	path, change, _ := strings.Cut(rest, " ")
	old, now, _ := strings.Cut(change, " => ")
	served := strings.Replace(string(contract.Description()), old, now, 1)
	require.NotEqual(s.t, string(contract.Description()), served)
	require.NoError(s.t, os.WriteFile(path, []byte(served), 0o600))
}

// mode is `% mode 0640 PATH`.
func (s *script) mode(rest string) {
	f := fields(s.t, rest, 2)
	mode, err := strconv.ParseUint(f[0], 8, 32)
	require.NoError(s.t, err)
	require.NoError(s.t, os.Chmod(f[1], os.FileMode(mode)))
}

// fault is `% fault POST /orders drop_response`, for the next request; a time in front has it befall more.
func (s *script) fault(rest string) {
	f := strings.SplitN(rest, " ", 3)
	s.sim.Fault(f[0]+" "+f[1], faultOf(s.t, f[2]))
}

// faults is `% faults POST /orders hang 1h` for each such request.
func (s *script) faults(rest string) {
	f := strings.SplitN(rest, " ", 3)
	s.sim.FaultEach(tradingsim.Always(f[0]+" "+f[1], faultOf(s.t, f[2])))
}

// faultOf reads faults by the names that the control of the simulator has for them, with " + " between them.
func faultOf(t *testing.T, text string) tradingsim.Fault {
	var all []tradingsim.Fault
	for one := range strings.SplitSeq(text, " + ") {
		name, rest, _ := strings.Cut(one, " ")
		first, rest, _ := strings.Cut(rest, " ")
		status, _ := strconv.Atoi(first)
		kinds := map[string]func() tradingsim.Fault{
			"drop_response": tradingsim.DropResponse,
			"hang":          func() tradingsim.Fault { return tradingsim.Hang(duration(t, first)) },
			"fail":          func() tradingsim.Fault { return tradingsim.Fail(status, rest) },
			"fail_after":    func() tradingsim.Fault { return tradingsim.FailAfter(status, rest) },
			"raw":           func() tradingsim.Fault { return tradingsim.Raw(status, nil, rest) },
			"raw_after":     func() tradingsim.Fault { return tradingsim.RawAfter(status, nil, rest) },
		}
		require.Contains(t, kinds, name)
		all = append(all, kinds[name]())
	}
	return tradingsim.Together(all...)
}

// interrupt is `% interrupt POST /orders drop_response`, once the bytes of the request have left, or
// `% interrupt after 10s`; it is for the next command.
func (s *script) interrupt(rest string) {
	f := strings.SplitN(rest, " ", 3)
	s.next = func(args ...string) (int, string, string) {
		if f[0] == "after" {
			return s.interrupted(duration(s.t, f[1]), args...)
		}
		return s.cut(f[0]+" "+f[1], faultOf(s.t, f[2]), args...)
	}
}

// journal is `% journal PATH`: a bot's, with a write of which nothing is known and one, of a name that moves
// a terminal, that was applied.
func (s *script) journal(path string) {
	s.pendingJournal(path)
	client := s.client(path)
	_, err := client.Live.Account("acc_1").PlaceOrder(s.ctx, trading.Order{
		Symbol: "ETH", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithClientOrderID("red \x1b[31m"))
	require.NoError(s.t, err)
	s.bot("ends")
	s.served()
}

// client is a bot's, with the journal. It is the one that ends next.
func (s *script) client(path string) *trading.Client {
	log, err := journal.Open(path)
	require.NoError(s.t, err)
	client := tradingtest.Client(s.t, s.sim, trading.WithJournal(log), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	s.endBot = func() { _ = client.Close(); require.NoError(s.t, log.Close()) }
	return client
}

// bot is `% bot opens PATH`, and holds the journal until `% bot ends`.
func (s *script) bot(rest string) {
	if rest == "ends" {
		s.endBot()
		s.endBot = nil
		return
	}
	s.client(strings.TrimPrefix(rest, "opens "))
}

// replace is `% replace PATH OLD NEW`, where a file has OLD last.
func (s *script) replace(rest string) {
	f := fields(s.t, rest, 3)
	text, err := os.ReadFile(f[0])
	require.NoError(s.t, err)
	at := strings.LastIndex(string(text), f[1])
	require.Positive(s.t, at, rest)
	require.NoError(s.t, os.WriteFile(f[0], slices.Concat(text[:at], []byte(f[2]), text[at+len(f[1]):]), 0o600))
}

// days is `% days PATH 90`: trades on so many days, after which the balance is $BALANCE.
func (s *script) days(rest string) {
	f := fields(s.t, rest, 2)
	days, err := strconv.Atoi(f[1])
	require.NoError(s.t, err)
	s.balance = tradesFile(s.t, f[0], days)
}
