package accounting

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// runs are a list of n runs, the newest first.
func runs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(n - i)
	}
	return ids
}

func newest(ids []string) Newest { return NewestOf(len(ids), func(i int) string { return ids[i] }) }

// Of a long list of finished runs the newest are enough to see what came since, also where
// its order is another, or its end is cut off: never is a run taken for an older one.
func TestEdge15_AProOrderInALongList(t *testing.T) {
	const long = 10_000
	older := runs(long)
	reversed := slices.Clone(older)
	slices.Reverse(reversed)
	for _, row := range []struct {
		name        string
		before, now []string
		want        Reason
	}{
		{"none came", older, older, NoTrace},
		{"it came", older, append([]string{"new"}, older...), OneNewID},
		{"it came, and the list has as many as before", older, append([]string{"new"}, older[:long-1]...), OneNewID},
		{"another came too", older, append([]string{"new", "newer"}, older...), NothingFits},
		{"more came than are kept", older, append(slices.Repeat([]string{"new"}, maxNewest), older...), NothingFits},
		{"the list lags", older, older[1:], ListIncomplete},
		{"oldest first, and none came", reversed, reversed, NoTrace},
		{"oldest first, and it came", reversed, append(slices.Clone(reversed), "new"), ListIncomplete},
		{"as many as are kept", older[:maxNewest], append([]string{"new"}, older[:maxNewest]...), OneNewID},
	} {
		v := Judge(Facts{
			Asked: Act{Kind: Pro, Side: Long, Size: num("1"), Sent: 1}, Symbol: "X", From: served(fromTime),
			Held: true, Exclusive: true, IDs: &IDs{Finished: newest(row.before).Head(64)},
			Look: State{Finished: newest(row.now), Status: "ACTIVE"}, EqualLooks: 2,
		})
		assert.Equal(t, row.want, v.Reason, row.name)
	}
}
