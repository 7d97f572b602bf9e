package observe

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/profile"
)

// What stands for a text is the same at each judging: profiles of one recording can be compared.
func TestTokensAreInAnOrder(t *testing.T) {
	for range 20 {
		s := newProofs(&profile.Profile{})
		assert.Equal(t, `{"accountId":"text_1","orderId":"text_2","runId":"text_3"}`, s.body([]byte(`{"runId":"c","orderId":"b","accountId":"a"}`)))
	}
}
