package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
)

// Service is how a command reaches the service: its flags.
type Service struct {
	App *App
	// Env is sandbox or live, Account the live account; empty for none.
	Env     trading.Environment
	Account trading.AccountID
	// Timeout bounds the command.
	Timeout time.Duration
	// Journal is the file of the writes of this command; empty for the default.
	Journal string

	cmd              *cobra.Command
	both             bool // keys of both environments
	local            bool // no key but a local one
	baseURL, keyFile string
	env, account     string
	journal          string
}

// Connection adds the flags that lead to the service. A command without an end has no
// timeout: 0.
func (a *App) Connection(cmd *cobra.Command, timeout time.Duration) *Service {
	s := &Service{App: a, cmd: cmd}
	f := cmd.Flags()
	f.StringVar(&s.baseURL, "base-url", "", "root of the API, which ends in /v1 (default $TRADING_BASE_URL)")
	f.StringVar(&s.keyFile, "key-file", "", "file with the API keys, mode 0600 (default $TRADING_SANDBOX_KEY, $TRADING_LIVE_KEY)")
	if timeout > 0 {
		f.DurationVar(&s.Timeout, "timeout", timeout, "how long to try")
	}
	return s
}

// BothKeys requires a live key and a sandbox key.
func (s *Service) BothKeys() *Service {
	s.both = true
	return s
}

// Environment adds the flags that choose between paper and real accounts.
func (s *Service) Environment(account string) *Service {
	f := s.cmd.Flags()
	Choice(f, &s.env, "env", "", string(trading.EnvSandbox), "the paper account, or the live accounts", "sandbox", "live")
	f.StringVar(&s.account, "account", "", account)
	return s
}

// Writes adds the flag that names the journal.
func (s *Service) Writes() *Service {
	s.cmd.Flags().StringVar(&s.journal, "journal", "", "journal of the live writes (default $TRADING_JOURNAL, or a file for each service in the user's state folder)")
	return s
}

// Read takes the flags over once they are parsed.
func (s *Service) Read() error {
	s.Env, s.Account = trading.Environment(s.env), trading.AccountID(s.account)
	switch {
	case s.cmd.Flags().Changed("timeout") && s.Timeout <= 0:
		return Misuse("--timeout must be greater than 0, not %s", s.Timeout)
	case s.Account != "" && s.Env != trading.EnvLive:
		return Misuse("--account is for --env live: there is one paper account")
	case s.journal != "" && s.Env == trading.EnvSandbox:
		return Misuse("--journal is for --env live: no journal has the writes of the paper account")
	}
	if s.baseURL == "" {
		s.baseURL = s.App.Getenv("TRADING_BASE_URL")
	}
	s.Journal = cmp.Or(s.journal, s.App.Getenv("TRADING_JOURNAL"))
	if s.baseURL == "" {
		return Misuse("which service? set TRADING_BASE_URL, or give --base-url: the root of the API, which ends in /v1")
	}
	return nil
}

// At says where the API is, in place of the flag and the variable.
func (s *Service) At(baseURL string) { s.baseURL = baseURL }

// AtSidecar is At for the port of a sidecar: nobody knows who listens there, so no key goes there
// but a local one.
func (s *Service) AtSidecar(baseURL string) { s.baseURL, s.local = baseURL, true }

// BaseURL returns the root of the API.
func (s *Service) BaseURL() string { return s.baseURL }

// RequireAccount refuses a live command that names no account.
func (s *Service) RequireAccount() error {
	if s.Env == trading.EnvLive && s.Account == "" {
		return Misuse("--env live needs --account: one key reaches every account of its owner")
	}
	return nil
}

// Context bounds the command.
func (s *Service) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.Timeout)
}

// Session is a client, and the journal that it writes to.
type Session struct {
	*trading.Client
	// Journal is the file; empty without one.
	Journal string
	// Flags name the journal to a command; empty without one.
	Flags string
	// Named means that its journal was named, so that it knows the writes of earlier runs: a bot's too.
	Named bool
	// Unread is why the journal that was named is not open; nil if it is, or if none was named.
	Unread error
	closes func() error // the journal
}

// Connect makes a client that keeps no journal, for a command that only reads.
func (s *Service) Connect() (*Session, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	return s.connect(opts)
}

// entryWait is how long an entry waits for another command to close the journal.
const entryWait = 5 * time.Second

// ConnectForEntry makes a client whose writes are in the journal.
func (s *Service) ConnectForEntry() (*Session, error) { return s.connectJournaled(entryWait, false) }

func (s *Service) connectJournaled(wait time.Duration, existing bool) (*Session, error) {
	if _, err := s.options(); err != nil { // before a file is made
		return nil, err
	}
	path, err := s.JournalPath()
	if err != nil {
		return nil, err
	}
	log, err := OpenJournal(path, wait, existing)
	if err != nil {
		return nil, err
	}
	session, err := s.ConnectOn(log, log.Close, "--journal "+Word(path))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	session.Journal, session.Named = path, s.Journal != ""
	return session, nil
}

// OpenJournal opens the journal in a file. One that has to be there already is not made: an empty journal
// would say that no write is pending.
func OpenJournal(path string, wait time.Duration, existing bool) (log *journal.Log, err error) {
	if existing {
		_, err = os.Stat(path)
	}
	if err == nil {
		log, err = journal.Open(path, journal.WithLockTimeout(wait))
	}
	if err != nil {
		return nil, WithCode(Refused, fmt.Errorf("journal %s: %w", path, err))
	}
	return log, nil
}

// ConnectOn makes a client whose writes are in a journal that is open, and that its flags name. To
// close the session closes the journal.
func (s *Service) ConnectOn(store journal.Store, closes func() error, flags string, more ...trading.Option) (*Session, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	session, err := s.connect(append(append(opts, trading.WithJournal(store)), more...))
	if err != nil {
		return nil, err
	}
	session.Flags, session.Named, session.closes = flags, true, closes
	return session, nil
}

// ConnectForExit is ConnectForEntry, except that a journal which cannot be opened does not keep anybody
// in the market, and is not waited for.
func (s *Service) ConnectForExit() (*Session, error) { return s.connectForExit(false) }

// ConnectToFlatten is ConnectForExit, except that a journal which is named is read first, as a bot's: it
// is not made.
func (s *Service) ConnectToFlatten() (*Session, error) { return s.connectForExit(s.Journal != "") }

func (s *Service) connectForExit(existing bool) (*Session, error) {
	session, err := s.connectJournaled(0, existing)
	if err == nil || Status(err) != Refused {
		return session, err
	}
	s.App.Sayf("warning: %v; going on without a journal", err)
	unread := err
	if session, err = s.Connect(); err == nil && s.Journal != "" {
		session.Unread = unread
	}
	return session, err
}

func (s *Service) connect(opts []trading.Option) (*Session, error) {
	client, err := trading.New(s.baseURL, append(opts, s.App.Options...)...)
	if err != nil {
		return nil, WithCode(Usage, err)
	}
	return &Session{Client: client}, nil
}

// keys are those of the file, or of the environment.
func (s *Service) keys() (keys, error) {
	all := keys{s.App.Getenv("TRADING_SANDBOX_KEY"), s.App.Getenv("TRADING_LIVE_KEY")}
	if s.keyFile != "" {
		var err error
		if all, _, err = readKeys(s.keyFile); err != nil {
			return keys{}, err
		}
	}
	if !s.local || all == (keys{}) {
		return all, nil
	}
	for _, key := range []*string{&all.sandbox, &all.live} {
		if !sidecar.IsLocalKey(*key) {
			*key = ""
		}
	}
	if all == (keys{}) {
		return keys{}, Misuse("the key is one of the service itself: give a sidecar the local key of a bot, which begins with pk_live_local_ or pk_test_local_")
	}
	return all, nil
}

// AnyKey returns the live key, or the sandbox key without one.
func (s *Service) AnyKey() (string, error) {
	k, err := s.keys()
	if err == nil && k.live+k.sandbox == "" {
		err = Misuse("no key: set TRADING_LIVE_KEY or TRADING_SANDBOX_KEY, or give --key-file")
	}
	return cmp.Or(k.live, k.sandbox), err
}

// options are the keys and the name of the program.
func (s *Service) options() ([]trading.Option, error) {
	k, err := s.keys()
	if err != nil {
		return nil, err
	}
	if (s.both || s.Env == trading.EnvLive) && k.live == "" {
		return nil, Misuse("no live key: set TRADING_LIVE_KEY, or give --key-file")
	}
	if (s.both || s.Env == trading.EnvSandbox) && k.sandbox == "" {
		return nil, Misuse("no sandbox key: set TRADING_SANDBOX_KEY, or give --key-file")
	}
	opts := []trading.Option{trading.WithApplication("trading", Version())}
	if k.sandbox != "" {
		opts = append(opts, trading.WithSandboxKey(k.sandbox))
	}
	if k.live != "" {
		opts = append(opts, trading.WithLiveKey(k.live))
	}
	return opts, nil
}

// RotatedKeys returns the options of a client that runs for long: its keys are those that the key
// file has at each attempt.
func (s *Service) RotatedKeys() ([]trading.Option, error) {
	if s.keyFile == "" {
		return nil, Misuse("missing: --key-file: what runs for long keeps its keys out of its environment, and follows a rotation")
	}
	file := &keyFile{path: s.keyFile}
	first, err := file.current()
	if err != nil {
		return nil, err
	}
	opts := []trading.Option{trading.WithApplication("trading", Version())}
	if first.sandbox != "" {
		opts = append(opts, trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) {
			k, err := file.current()
			return k.sandbox, err
		}))
	}
	if first.live != "" {
		opts = append(opts, trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
			k, err := file.current()
			return k.live, err
		}))
	}
	return opts, nil
}

// Close ends the client and the journal. That writes are pending is not its error: the
// call that left one has said so.
func (s *Session) Close() error {
	err := s.Client.Close()
	if errors.As(err, new(*trading.PendingError)) {
		err = nil
	}
	if s.closes != nil {
		err = errors.Join(err, s.closes())
	}
	return err
}

// JournalPath returns the journal of the writes: each service has one of its own. The
// folder is made if there is none.
func (s *Service) JournalPath() (string, error) {
	if s.Journal != "" {
		return s.Journal, nil
	}
	path, err := s.App.defaultJournal(s.baseURL)
	if err != nil {
		return "", WithCode(Usage, fmt.Errorf("no place for a journal, give --journal: %w", err))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", WithCode(Refused, err)
	}
	return path, nil
}

// OwnJournal returns the journal of this command's writes if there is one.
func (s *Service) OwnJournal() (path string, ok bool) {
	if s.Journal != "" {
		return s.Journal, true
	}
	path, err := s.App.defaultJournal(s.baseURL)
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return path, err == nil
}

// StateFolder is where the programs of this user keep their state.
func (a *App) StateFolder() (string, error) { return disk.UserFolder(a.Getenv) }

func (a *App) defaultJournal(baseURL string) (string, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" {
		return "", errors.New("the base URL has no host")
	}
	state, err := a.StateFolder()
	if err != nil {
		return "", err
	}
	name := strings.NewReplacer(":", "_", "/", "_", "[", "", "]", "").Replace(strings.ToLower(base.Host))
	return filepath.Join(state, name+".journal"), nil
}

// Version is the version of the module that this program was built from.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return trading.Version
}
