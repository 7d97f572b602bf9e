package tradingsim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
)

const (
	maxCSVRows = 5_000_000
	maxCSVLine = 256
)

// ReadCSV reads a recording of marks: lines "time,price" in order of time. A
// time is RFC 3339, or a whole Unix time in seconds, milliseconds, microseconds or
// nanoseconds, which its size shows; an empty price means unpriced from then on. Empty
// lines, lines that begin with # and a heading "time,price" are skipped; [WriteCSV]
// writes such a recording. A mark holds until the next line, the last one for good;
// before the first line the market is unpriced. Errors name the line.
func ReadCSV(r io.Reader) (Feed, error) {
	var rows recording
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxCSVLine), maxCSVLine)
	number, headed := 0, false
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if !headed && isHeading(line) && len(rows) == 0 {
			if !strings.EqualFold(line, heading) {
				return nil, fmt.Errorf("tradingsim: line %d: the heading is %q; it must be %q, or there must be none", number, line, heading)
			}
			headed = true
			continue
		}
		row, err := readRow(line)
		if err != nil {
			return nil, fmt.Errorf("tradingsim: line %d: %w", number, err)
		}
		if n := len(rows); n > 0 && !row.at.After(rows[n-1].at) {
			return nil, fmt.Errorf("tradingsim: line %d: its time is not after the time before it", number)
		}
		if len(rows) == maxCSVRows {
			return nil, fmt.Errorf("tradingsim: line %d: a recording has at most %d rows", number, maxCSVRows)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", maxCSVLine)
		}
		return nil, fmt.Errorf("tradingsim: line %d: %w", number+1, err)
	}
	if len(rows) == 0 {
		return nil, errors.New("tradingsim: a recording without a row")
	}
	return rows, nil
}

const heading = "time,price"

// isHeading reports whether a line begins as no time does.
func isHeading(line string) bool { return (line[0] < '0' || line[0] > '9') && line[0] != '-' }

func readRow(line string) (markChange, error) {
	when, price, ok := strings.Cut(line, ",")
	if !ok {
		return markChange{}, errors.New(`want "time,price"`)
	}
	at, err := readTime(strings.TrimSpace(when))
	if err != nil {
		return markChange{}, err
	}
	price = strings.TrimSpace(price)
	if price == "" {
		return markChange{at: at}, nil
	}
	d, err := parseNumber(price)
	if err != nil {
		return markChange{}, fmt.Errorf("price: %w", err)
	}
	if !d.IsPositive() {
		return markChange{}, fmt.Errorf("price %s is not positive", price)
	}
	return markChange{at: at, mark: some(d)}, nil
}

// lastYear is the last that RFC 3339 can write.
const lastYear = 9999

func readTime(text string) (time.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at, _, ok := epoch.Time(n)
		if !ok || at.Year() > lastYear {
			return time.Time{}, fmt.Errorf("time %d is in no unit one between 1970 and 2200: it must be RFC 3339 or a Unix time", n)
		}
		return at, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q is neither RFC 3339 nor a Unix time", text)
	}
	return at, nil
}

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
