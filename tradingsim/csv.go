package tradingsim

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/table"
)

const maxCSVRows = 5_000_000

// ReadCSV reads a recording of marks: lines "time,price" in order of time. A
// time is RFC 3339, or a whole Unix time in seconds, milliseconds, microseconds or
// nanoseconds, which its size shows; an empty price means unpriced from then on. Empty
// lines, lines that begin with # and a heading "time,price" are skipped; [WriteCSV]
// writes such a recording. A mark holds until the next line, the last one for good;
// before the first line the market is unpriced. Errors name the line.
func ReadCSV(r io.Reader) (Feed, error) {
	t, err := table.Open(r, "time", "price")
	if errors.Is(err, io.EOF) {
		return nil, errNoRow
	}
	if err == nil && (len(t.Names()) != 2 || !t.Has("time", "price")) {
		err = fmt.Errorf("the columns are %q; they must be %q, or the first line is one of them", strings.Join(t.Names(), ","), heading)
	}
	var rows recording
	for err == nil {
		if err = t.Next(); err != nil {
			break
		}
		row := markChange{at: t.Time("time")}
		if t.Text("price") != "" {
			row.mark = some(t.Price("price"))
		}
		if n := len(rows); n > 0 && !row.at.After(rows[n-1].at) {
			t.Fail("time", "it is not after the time before it")
		}
		if len(rows) == maxCSVRows {
			t.Fail("", "a recording has at most %d rows", maxCSVRows)
		}
		rows, err = append(rows, row), t.Err()
	}
	switch {
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("tradingsim: %w", err)
	case len(rows) == 0:
		return nil, errNoRow
	}
	return rows, nil
}

const heading = "time,price"

var errNoRow = errors.New("tradingsim: a recording without a row")

// recording is rows in order of time.
type recording []markChange

func (r recording) row(t time.Time) (markChange, bool) {
	i := sort.Search(len(r), func(i int) bool { return r[i].at.After(t) })
	if i == 0 {
		return markChange{}, false
	}
	return r[i-1], true
}

func (r recording) At(t time.Time) (decimal.Decimal, bool) {
	row, ok := r.row(t)
	return row.mark.value, ok && row.mark.set
}

// FromStart moves a recording of [ReadCSV] so that its first line comes when the
// simulation starts, whatever its times say.
func FromStart(f Feed) Feed {
	r, ok := f.(recording)
	if !ok {
		panic("tradingsim: FromStart takes a feed of ReadCSV")
	}
	return shifted{r}
}

// shifted is a recording that will start with the simulation.
type shifted struct{ recording }

func (s shifted) startAt(t time.Time) Feed {
	by := t.Sub(s.recording[0].at)
	moved := make(recording, len(s.recording))
	for i, row := range s.recording {
		moved[i] = markChange{row.at.Add(by), row.mark}
	}
	return moved
}

func (r recording) age(t time.Time) time.Duration {
	row, ok := r.row(t)
	if !ok {
		return 0
	}
	return t.Sub(row.at)
}
