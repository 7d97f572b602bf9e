package protect

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

var (
	// ErrNotRunning means that no protection took a request up.
	ErrNotRunning = errors.New("protect: no protection of the account runs on the folder")
	// ErrRefused means that the protection took a request up, and did not do it.
	ErrRefused = errors.New("protect: the protection did not do it")
)

// RequestKind is what a [Request] asks for.
type RequestKind string

// The kinds of requests.
const (
	RequestHalt    RequestKind = "halt"    // as [Protection.Halt]
	RequestFlatten RequestKind = "flatten" // as [Protection.Flatten]
	RequestResume  RequestKind = "resume"  // as [Protection.Resume]
)

// inTurn are the kinds in the order they are taken up: what is asked for at the same time
// as a resume outlasts it.
var inTurn = []RequestKind{RequestResume, RequestHalt, RequestFlatten}

// Request is what a person asks a protection in another process for.
type Request struct {
	// Account is the account, and Kind what the protection is to do with it.
	Account trading.AccountID
	Kind    RequestKind
	// Reason is for a halt and a flatten.
	Reason string
}

// sentRequest is what the file of a request holds. The file is named after the account, an
// id of the request, and the kind.
type sentRequest struct {
	Request
	At time.Time
}

const (
	// requestEvery is how often a protection looks for requests.
	requestEvery = time.Second
	// requestFor is how long a flatten and a resume wait. Whoever asked is gone then, and
	// what was right is not any more.
	requestFor = time.Minute
)

// Ask asks the protection that uses the folder, in whatever process, and waits until it
// has done it. The request is on the disk before Ask waits, and from then on programs that
// [Follow] the folder take no entries, until the protection has taken the request up.
//
// If ctx ends before, a halt stays: who follows is bound, and the next protection begins
// with it. A flatten and a resume are withdrawn. The error is [ErrNotRunning] if its time
// is over: a protection that runs needs a second or two. It is [ErrUnknownAccount] if the
// folder knows no such account, and nothing stays.
func Ask(ctx context.Context, dir string, r Request) (Status, error) {
	path, err := send(dir, r)
	if err != nil {
		return Status{}, err
	}
	taken, err := waitGone(ctx, path)
	if err != nil {
		return Status{}, err
	}
	status, unread := ReadStatus(dir, r.Account)
	switch {
	case taken && unread != nil:
		return status, unread
	case taken:
		return status, r.judge(status)
	}
	unanswered := fmt.Errorf("%w %s", ErrNotRunning, dir)
	if errors.Is(ctx.Err(), context.Canceled) {
		unanswered = fmt.Errorf("protect: the request has not been taken up yet: %w", ctx.Err())
	}
	if r.Kind == RequestHalt && !errors.Is(unread, ErrUnknownAccount) {
		return status, unanswered
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return status, fmt.Errorf("protect: the request could not be withdrawn: %w", err)
	}
	if errors.Is(unread, ErrUnknownAccount) {
		return status, unread
	}
	return status, unanswered
}

// send writes the file of a request, whole or not at all.
func send(dir string, r Request) (path string, err error) {
	if r.Account == "" || !slices.Contains(inTurn, r.Kind) {
		return "", fmt.Errorf("protect: Request.Account is %q and Kind %q: want an account, and halt, flatten or resume", r.Account, r.Kind)
	}
	body, err := json.Marshal(sentRequest{r, time.Now()})
	if err != nil {
		return "", fmt.Errorf("protect: %w", err)
	}
	path = filepath.Join(dir, url.PathEscape(string(r.Account))+"."+rand.Text()+"."+string(r.Kind))
	if err := disk.Replace(path, seal(body), true); err != nil {
		return path, fmt.Errorf("protect: %w", err)
	}
	return path, nil
}

// waitGone waits until a protection has removed the file of a request.
func waitGone(ctx context.Context, path string) (gone bool, err error) {
	look := time.NewTicker(requestEvery / 10)
	defer look.Stop()
	for {
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("protect: %w", err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// judge judges by the state what a request that was taken up has come to.
func (r Request) judge(s Status) error {
	var done bool
	switch r.Kind {
	case RequestHalt:
		done = s.Manual
	case RequestFlatten:
		done = s.Manual && (s.State == Flattening || s.State == Stuck || s.State == Held)
	case RequestResume:
		done = !s.Manual && s.State != Held && !s.State.cannotResume()
	}
	if done {
		return nil
	}
	return fmt.Errorf("%w: account %s: %s", ErrRefused, r.Account, s.Refusal)
}

// requests are the names of the requests about an account, in the order they are taken up.
// By its name alone a file is one, whatever it holds.
func requests(dir string, id trading.AccountID) (names []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, kind := range inTurn {
		for _, f := range files {
			rest, ofAccount := strings.CutPrefix(f.Name(), url.PathEscape(string(id))+".")
			rest, ofKind := strings.CutSuffix(rest, "."+string(kind))
			if ofAccount && ofKind && rest != "" && !strings.Contains(rest, ".") {
				names = append(names, f.Name())
			}
		}
	}
	return names, nil
}

// readRequest reads the file of a request.
func readRequest(path string, id trading.AccountID) (r sentRequest, err error) {
	data, err := trusted(path)
	if err != nil {
		return r, err
	}
	return decodeRequest(data, id, RequestKind(strings.TrimPrefix(filepath.Ext(path), ".")))
}

func decodeRequest(data []byte, id trading.AccountID, kind RequestKind) (r sentRequest, err error) {
	body, err := unseal(data)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, err
	}
	if r.Account != id || r.Kind != kind {
		return r, fmt.Errorf("it is a %q of account %q, and its name says %q of %q", r.Kind, r.Account, kind, id)
	}
	return r, nil
}

// listen takes requests up until ctx ends.
func (p *Protection) listen(ctx context.Context) {
	look := time.NewTicker(requestEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			p.takeRequests()
		case <-ctx.Done():
			return
		}
	}
}

// takeRequests does what other processes have asked for.
func (p *Protection) takeRequests() {
	for _, id := range p.Accounts() {
		names, err := requests(p.store.dir, id)
		if err != nil {
			continue // a folder that cannot be read takes no state either, which it reports
		}
		for _, name := range names {
			p.watchers[id].takeRequest(filepath.Join(p.store.dir, name))
		}
	}
}

// takeRequest does what a file asks for, and removes it once that is on the disk. It never
// does the same file twice, even if it cannot be removed.
func (w *watcher) takeRequest(path string) {
	if w.done[path] {
		if os.Remove(path) == nil {
			delete(w.done, path)
		}
		return
	}
	err := w.obey(path)
	if errors.Is(err, errUnwritten) {
		return // it is tried again, and binds who follows as long as it is there
	}
	if err != nil {
		w.alert(err.Error())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.done[path] = true
		w.alert("a request that was taken up could not be removed: " + err.Error())
	}
}

// obey does what a file asks for. One that cannot be read halts.
func (w *watcher) obey(path string) error {
	r, err := readRequest(path, w.id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was withdrawn
	}
	if err != nil {
		return errors.Join(fmt.Errorf("a request is corrupt: %w", err), w.ask(RequestHalt, "a request is corrupt"))
	}
	age := w.p.now().wall.Sub(r.At)
	if r.Kind != RequestHalt && (age > requestFor || age < -requestFor) {
		return fmt.Errorf("a request to %s of %s is too old: it is not done", r.Kind, r.At.Format(time.RFC3339))
	}
	return w.ask(r.Kind, r.Reason)
}
