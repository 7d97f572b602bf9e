package leak

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a goroutine is doing is found while it runs, and not once it has ended.
func TestLeft(t *testing.T) {
	before := Snapshot()
	end := make(chan struct{})
	go func() { <-end }()
	left := before.within(0)
	require.Len(t, left, 1)
	assert.Contains(t, left[0], "leak.TestLeft")
	assert.NotContains(t, left[0], "testing.tRunner", "it is not the test itself")
	close(end)
	assert.Empty(t, before.Left())
}

func TestMainOfAPackage(t *testing.T) {
	end := make(chan struct{})
	for name, row := range map[string]struct {
		m    tests
		want int
	}{
		"leaves none":              {tests{}, 0},
		"leaves one":               {tests{begin: func() { <-end }}, 1},
		"fails":                    {tests{code: 2}, 2},
		"fails and leaves one too": {tests{code: 2, begin: func() { <-end }}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var told bytes.Buffer
			assert.Equal(t, row.want, run(row.m, &told, 0))
			assert.Equal(t, row.want == 1, told.Len() > 0, "%s", told.String())
		})
	}
	before := Snapshot()
	close(end)
	assert.Empty(t, before.Left())
}

// tests are those of a package: what they leave behind, and their code.
type tests struct {
	begin func()
	code  int
}

func (m tests) Run() int {
	if m.begin != nil {
		go m.begin()
	}
	return m.code
}
