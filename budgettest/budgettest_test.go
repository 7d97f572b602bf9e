package budgettest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/budgettest"
)

func TestInMemory(t *testing.T) {
	budgettest.Run(t, budgettest.Store{
		New:   func(*testing.T) trading.BudgetStore { return trading.NewBudgetStore() },
		In:    synctest.Test,
		Sleep: time.Sleep,
	})
}
