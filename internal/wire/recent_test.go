package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Copies of raw values may share an allocation, but writing to one must not
// reach another.
func TestList_RawMembersAreApart(t *testing.T) {
	row := `{"symbol":"BTC","size":1,"a":"one","b":"two"},`
	data := []byte("[" + strings.Repeat(row, 500) + strings.TrimSuffix(row, ",") + "]")
	list, err := unmarshalLegs(data)
	require.NoError(t, err)
	for _, v := range list {
		a := append(v.Extra["a"], "#########"...)
		copy(a, "#########")
	}
	for i := range data {
		data[i] = '!'
	}
	for _, v := range list {
		require.Equal(t, `"two"`, string(v.Extra["b"]))
		copy(v.Extra["a"], "#####")
		require.Equal(t, `"two"`, string(v.Extra["b"]))
	}
}

func TestRecentNumbers(t *testing.T) {
	d := NewDecoder([]byte(`[64010.5, -64010.5, 6401.05, 64010.50, 0.000, 0e3, 64010.5, 999, 1000, 1001, 1002, 1003, 64010.5]`))
	var got []string
	for d.Array(); d.Element(); {
		got = append(got, d.Decimal().String())
	}
	require.NoError(t, d.Finish())
	assert.Equal(t, []string{"64010.5", "-64010.5", "6401.05", "64010.5", "0", "0", "64010.5", "999", "1000", "1001", "1002", "1003", "64010.5"}, got)
}
