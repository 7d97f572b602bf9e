package cli

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is said and what is logged meet in one stream, and each line is whole.
func TestLinesAreWhole(t *testing.T) {
	var errs bytes.Buffer
	a := &App{Err: &errs}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { a.Sayf("said %s", "by a command") })
		all.Go(func() { fmt.Fprintln(a.Lines(), "logged by a logger") })
	}
	all.Wait()
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	assert.Len(t, lines, 100)
	for _, line := range lines {
		assert.Contains(t, []string{"said by a command", "logged by a logger"}, line)
	}
}
