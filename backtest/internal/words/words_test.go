package words

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCount(t *testing.T) {
	assert.Equal(t, []string{"0 days", "1 day", "2 days"}, []string{Count(0, "day"), Count(1, "day"), Count(2, "day")})
	assert.Equal(t, []string{"0 days are", "1 day is", "2 days are"}, []string{Are(0, "day"), Are(1, "day"), Are(2, "day")})
}
