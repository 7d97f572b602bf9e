package journal

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// TestGrowth measures what the file has ever used, after each tenth of 100,000 intents that are begun
// and settled, ten minutes apart, every other one with a decision, beside one that
// stays pending. After the first tenth there is as much to keep as there will ever
// be, so from then on pages are used again, but for a few. Syncs are left out, since they change
// no byte, and fifty write at a time.
func TestGrowth(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes 200,000 writes")
	}
	const tenth, company = 10_000, 50
	path := testFile(t)
	j, err := Open(path, Options{Keep: 7 * 24 * time.Hour, History: 500})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	noSync(j)
	mustBegin(t, j, "open")
	cycle := func(i int) {
		in := testIntent(fmt.Sprint(i))
		in.Created = in.Created.Add(time.Duration(i) * 10 * time.Minute)
		if i%2 == 0 {
			in.Decision = ""
		}
		if err := j.Begin(t.Context(), in); err != nil {
			t.Error(err)
		}
		s := trading.Settlement{Outcome: trading.Applied, At: in.Created.Add(time.Second), Answer: []byte(`{"success":true}`)}
		if err := j.Settle(t.Context(), in.ID, s); err != nil {
			t.Error(err)
		}
	}
	var sizes []int
	for i := 0; i < 10*tenth; i += company {
		var wg sync.WaitGroup
		for k := range company {
			wg.Go(func() { cycle(i + k) })
		}
		wg.Wait()
		if (i+company)%tenth == 0 {
			j.work.Wait() // for a checkpoint
			sizes = append(sizes, len(used(t, path)))
		}
	}
	t.Logf("sizes: %d", sizes)
	if first, last := sizes[0], sizes[len(sizes)-1]; last > first+first/4 {
		t.Errorf("what the file uses has grown from %d to %d bytes", first, last)
	}
	count := 0
	for _, err := range j.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	// One in twenty minutes with a decision, for a week, and the last to write
	// need not be the latest.
	if want := 1 + 500 + 7*24*3; count < want-company || count > want+company {
		t.Errorf("%d entries are kept, want about %d", count, want)
	}
}
