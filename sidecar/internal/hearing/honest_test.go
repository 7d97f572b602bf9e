package hearing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// honest is a bot that hears all that it waits for. It sends different entries side by side, and
// reads and closes only while none runs: a grid does, and one that enters, closes and enters again.
// Or it reads at any time, and says with each entry what it has heard.
type honest struct {
	now    time.Time
	book   *Book
	runs   []string // entries without an answer
	says   []string // answered, and not heard yet
	heard  map[string]bool
	sent   int
	trail  []string
	copied bool // its entries are all alike
	polls  bool // it reads its account at any time, and names what it has heard with each entry
}

func (h *honest) clone() *honest {
	c := *h
	c.book = h.book.clone()
	c.runs, c.says = append([]string(nil), h.runs...), append([]string(nil), h.says...)
	c.trail = append([]string(nil), h.trail...)
	c.heard = map[string]bool{}
	for id := range h.heard {
		c.heard[id] = true
	}
	return &c
}

// arrive has a write judged, which must be carried out.
func (h *honest) arrive(w Write) string {
	if v, other := h.book.Arrive(w, h.now, func(id string) bool { return h.heard[id] }); v != Carry {
		return fmt.Sprintf("%s is not carried out, beside %s", w.ID, other)
	}
	return ""
}

func (h *honest) steps() (all []string) {
	if h.sent < 5 && (!h.copied && !h.polls || len(h.runs)+len(h.says) == 0) {
		all = append(all, "send", "send with a key")
	}
	for _, id := range h.runs {
		all = append(all, "execute "+id, "refuse "+id)
	}
	for _, id := range h.says {
		all = append(all, "hear "+id)
	}
	if quiet := len(h.runs)+len(h.says) == 0; quiet && h.sent > 0 {
		all = append(all, "read", "close", "6 s")
	} else if h.polls {
		all = append(all, "read")
	}
	return all
}

func (h *honest) do(step string) string {
	h.trail = append(h.trail, step)
	what, id, _ := strings.Cut(step, " ")
	switch what {
	case "send":
		h.sent++
		w := write(fmt.Sprint("w", h.sent), Entry, fmt.Sprint("order ", h.sent))
		if h.copied {
			w.Digest = "order"
		}
		if id != "" {
			w.Key = "key of " + w.ID
		}
		for id := range h.heard {
			if h.polls && !slices.Contains(h.says, id) {
				h.book.Named(market, id)
			}
		}
		h.runs = append(h.runs, w.ID)
		return h.arrive(w)
	case "execute", "refuse":
		outcome := Applied
		if what == "refuse" {
			outcome = NotApplied
		}
		h.runs = without(h.runs, id)
		h.says = append(h.says, id)
		h.book.Known(market, id, outcome, h.now)
		h.book.Left(market, id, h.now)
		h.book.Answered(market, id)
		h.heard[id] = true // as the connection shows it from now on
	case "hear":
		h.says = without(h.says, id)
	case "read":
		h.book.GoesOn("bot", "acc_1")
		h.book.Read("bot", "acc_1", Positions, h.now)
	case "close":
		w := write("close", Close, "close")
		if wrong := h.arrive(w); wrong != "" {
			return wrong
		}
		h.book.Known(market, w.ID, Applied, h.now)
		h.book.Left(market, w.ID, h.now)
		h.book.Answered(market, w.ID)
		h.heard[w.ID] = true
	default:
		h.now = h.now.Add(6 * time.Second)
	}
	return ""
}

func without(all []string, one string) (rest []string) {
	for _, id := range all {
		if id != one {
			rest = append(rest, id)
		}
	}
	return rest
}

func (h *honest) walk(left int, schedules *int) string {
	if left == 0 {
		*schedules++
		return ""
	}
	for _, step := range h.steps() {
		next := h.clone()
		if wrong := next.do(step); wrong != "" {
			return wrong + ":\n  " + strings.Join(next.trail, "\n  ")
		}
		if wrong := next.walk(left-1, schedules); wrong != "" {
			return wrong
		}
	}
	return ""
}

// Different entries side by side without a read between, equal ones that are each heard before the
// next, and those of a bot that polls meanwhile and names what it has heard: all are carried out,
// in every order in which the service answers.
func TestNoHonestBotIsHeld(t *testing.T) {
	for name, h := range map[string]*honest{
		"different entries side by side":           {},
		"equal entries in a row":                   {copied: true},
		"entries in a row, of a bot that polls":    {polls: true},
		"equal ones in a row, of a bot that polls": {polls: true, copied: true},
	} {
		t.Run(name, func(t *testing.T) {
			schedules := 0
			h.now, h.book, h.heard = t0, &Book{}, map[string]bool{}
			require.Empty(t, h.walk(*depth+1, &schedules))
			t.Logf("%d schedules", schedules)
		})
	}
}

// Eight at once, whatever has been answered of them when the next comes.
func TestEightEntriesSideBySide(t *testing.T) {
	for answered := range 8 {
		h := &honest{now: t0, book: &Book{}, heard: map[string]bool{}}
		for i := 1; i <= 8; i++ {
			require.Empty(t, h.do("send"))
			if i <= answered {
				h.do(fmt.Sprint("execute w", i))
			}
		}
	}
}
