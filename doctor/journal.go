package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// journal looks at the journal and the disk beneath it.
func (l *look) journal() {
	s := l.r.of("journal")
	path := l.o.Journal
	if path == "" {
		s.skip("journal", "none is named (--journal, TRADING_JOURNAL): a bot without one, or a lease in a database, does not know after a crash what it has sent")
		return
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		s.fail("journal", "Make the folder, on a disk that outlives the process.", "%s is in no folder that is there", path)
		return
	}
	leave := l.open(s, path)
	l.pending(s, path)
	l.disk(s, folder, leave)
}

// open opens the journal as the bot would, or says who has it. A journal of another user is
// not opened: a file that this user writes anew would be closed to the bot. It returns why the disk is
// left alone; empty if it is not.
func (l *look) open(s subject, path string) (leave string) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.warn("journal", "The bot makes it. If it has traded before, the old one is lost: look at the accounts first.", "there is none at %s", path)
		return ""
	case err != nil:
		s.fail("journal", cureOf(err), "%v", err)
		return ""
	case !ownedByUs(info):
		s.skip("journal", "%s belongs to another user, and was read but not opened", path)
		return "the journal belongs to another user, and so may the disk"
	}
	log, err := l.h.open(path)
	if errors.Is(err, journal.ErrLocked) {
		l.holderOf(s, path)
		return "a bot has the journal open: the disk is left to it"
	}
	if err != nil {
		s.fail("journal", cureOf(err), "it does not open: %s", oneLine(err))
		return ""
	}
	s.ok("journal", "%s opens", path)
	if err := log.Close(); err != nil {
		s.fail("journal", cureOf(err), "it does not close: %s", oneLine(err))
	}
	return ""
}

// cureOf is what to do about a journal that does not open.
func cureOf(err error) string {
	switch {
	case errors.As(err, new(*journal.DamageError)):
		return "docs/operating.md says what to do with a journal that is damaged."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "Free some room on the disk: the journal itself is as it was."
	case errors.Is(err, syscall.EROFS):
		return "Make the disk writable: a system makes it read-only after errors, so look at its log first."
	case errors.Is(err, fs.ErrPermission):
		return "Run as the user whose journal it is, or give the user the file and its folder."
	case errors.Is(err, syscall.EIO):
		return "The disk fails: copy the journal, and move the bot."
	default:
		return "docs/operating.md has what a journal needs."
	}
}

// holderOf says which process has the journal open.
func (l *look) holderOf(s subject, path string) {
	pid, known := l.h.lockedBy(path)
	switch p := l.o.Process; {
	case !known:
		s.ok("journal", "%s is open in another process", path)
	case p != nil && pid != p.PID:
		s.fail("journal", "Two bots must not share a journal.", "%s is open in process %d, not in %d", path, pid, p.PID)
	default:
		s.ok("journal", "%s is open in process %d", path, pid)
	}
}

// pending looks at the writes whose outcome is not known, and for a gap.
func (l *look) pending(s subject, path string) {
	const bad = 30 * time.Minute // by then the client knows, or a person has to look
	n := 0
	var oldest time.Time
	for w, err := range trading.ReadJournal(path) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			s.fail("pending-writes", "trading journal verify says more.", "the journal cannot be read: %s", oneLine(err))
			return
		}
		if w.Pending {
			if n++; oldest.IsZero() || w.Decided.Before(oldest) {
				oldest = w.Decided
			}
		}
	}
	age := l.r.At.Sub(oldest).Truncate(time.Second)
	switch {
	case n == 0:
		s.ok("pending-writes", "none")
	case age > bad:
		s.fail("pending-writes", "trading pending ls shows them; a person has to look.", "%d, the oldest for %s", n, age)
	default:
		s.warn("pending-writes", "Recover finds out, or, with the bot stopped, trading pending resolve; entries in these markets wait for it.", "%d, the oldest for %s", n, age)
	}
	if _, err := os.Lstat(path + ".gap"); err == nil {
		s.fail("gap", "Compare the account's closes with what the bot did; the client removes the note when nothing is pending.", "an exit went out that the journal did not take")
	} else {
		s.ok("gap", "none")
	}
}

// disk looks at the disk: what it is, its room, and how long a sync takes.
func (l *look) disk(s subject, folder, leave string) {
	place, err := l.h.place(folder)
	const low, little = 100 << 20, 1 << 30 // bytes
	switch {
	case err != nil:
		s.skip("journal-place", "it cannot be found out here: %v", err)
	case place.lasting == "":
		s.ok("journal-place", "%s", place.kind)
	default:
		s.fail("journal-place", "Put the journal on a local disk, or a volume, that outlives the container.", "%s: %s", place.kind, place.lasting)
	}
	switch {
	case err != nil:
		s.skip("journal-space", "it cannot be found out here")
	case place.free < low:
		s.fail("journal-space", "Free some: a journal that cannot be written stops entries.", "%d MiB are free", place.free>>20)
	case place.free < little:
		s.warn("journal-space", "Free some.", "%d MiB are free", place.free>>20)
	default:
		s.ok("journal-space", "%d GiB are free", place.free>>30)
	}
	if leave != "" {
		s.skip("journal-sync", "%s", leave)
		return
	}
	l.syncs(s, folder)
}

// syncs measures how long the disk takes to keep what it was given.
func (l *look) syncs(s subject, folder string) {
	const rounds, tooFast, slow = 20, 50 * time.Microsecond, 50 * time.Millisecond
	took, err := l.h.sync(folder, rounds)
	if err != nil {
		s.fail("journal-sync", "The bot could not write its journal here.", "%v", err)
		return
	}
	slices.Sort(took)
	median, text := took[len(took)/2], fmt.Sprintf("median %s of %d syncs, slowest %s", short(took[len(took)/2]), len(took), short(took[len(took)-1]))
	l.r.Measured.Sync = median
	switch {
	case median < tooFast:
		s.warn("journal-sync", "What it reports as kept may be gone after a power cut.", "%s: a disk in memory or a cache that lies", text)
	case median > slow:
		s.warn("journal-sync", "Each entry waits for two of them.", "%s", text)
	default:
		s.ok("journal-sync", "%s", text)
	}
}
