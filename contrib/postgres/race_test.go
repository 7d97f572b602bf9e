package postgres

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var takings = flag.Int("takings", 60, "how many takings race against appends")

// A holder appends as fast as it can while another process takes the lease: nothing of the holder's
// is there that comes after the taking, and nothing that was acknowledged is missing.
func TestTakingsRaceAppends(t *testing.T) {
	at := address(t)
	var o Options
	operator, err := connect(t.Context(), at)
	require.NoError(t, err)
	defer operator.close()
	for i := range *takings {
		if i%50 == 0 { // who takes over reads the whole history: so it stays short
			o = options()
			o.Lease = 10 * time.Second
		}
		s, err := Open(t.Context(), at, o)
		require.NoError(t, err)
		epoch := s.epoch
		acknowledged, some := make(chan int, 1), make(chan struct{})
		go func() {
			n := 0
			for s.Append(context.Background(), true, record(int(epoch)*1_000_000+n)) == nil {
				if n++; int64(n) == epoch%5 {
					close(some)
				}
			}
			acknowledged <- n
		}()
		if epoch%5 > 0 { // else before the first
			<-some
		}
		var seq int64
		require.NoError(t, operator.QueryRow(t.Context(),
			`UPDATE trading.lease SET epoch = epoch + 1, beat = beat + 1, holder = 'x', released = true WHERE name = $1 RETURNING seq`, o.Name).Scan(&seq))
		n := <-acknowledged
		require.Error(t, s.Err())
		var count, last int64
		require.NoError(t, operator.QueryRow(t.Context(), `SELECT count(*), coalesce(max(n), 0) FROM trading.record WHERE lease = $1 AND intent LIKE $2`,
			o.Name, []byte(fmt.Sprintf("intent %d______", epoch))).Scan(&count, &last))
		require.LessOrEqual(t, last, seq, "appended after the taking")
		require.GreaterOrEqual(t, count, int64(n), "acknowledged, and not there")
		_ = s.Close()
	}
}
