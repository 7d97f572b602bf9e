package odds

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// money has two places and separators of thousands.
func money(d decimal.Decimal) string {
	text := d.Abs().StringFixed(2)
	point := len(text) - 3
	var b strings.Builder
	if d.IsNegative() && d.Round(2).Sign() != 0 {
		b.WriteByte('-')
	}
	b.WriteByte('$')
	for i, c := range text {
		if i > 0 && i < point && (point-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// percent is a share in whole percents. No history shows that something is certain.
func percent(share float64) string {
	switch {
	case share < 0.005:
		return "under 1 %"
	case share > 0.995:
		return "over 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
