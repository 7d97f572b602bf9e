package journal

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRewrite is what an Append waits for at most, beside its own sync: so
// many resolved intents with a name are written anew.
func BenchmarkRewrite(b *testing.B) {
	for _, kept := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprintf("kept=%d", kept), func(b *testing.B) {
			l, err := Open(filepath.Join(b.TempDir(), "bot.journal"))
			require.NoError(b, err)
			defer l.Close()
			for i := range kept {
				r := Record{Intent: fmt.Sprint(i), Name: fmt.Sprint(i), Final: true, Data: make([]byte, 270)}
				require.NoError(b, l.Append(b.Context(), false, r))
			}
			require.NoError(b, l.Append(b.Context(), true))
			for b.Loop() {
				require.NoError(b, l.rewrite())
			}
		})
	}
}
