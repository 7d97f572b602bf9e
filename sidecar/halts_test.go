package sidecar

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// alerts are what a person was said.
type alerts struct {
	mu  sync.Mutex
	all []string
}

func (a *alerts) say(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, text)
}

// with are those that contain a text.
func (a *alerts) with(text string) (found []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.all {
		if strings.Contains(one, text) {
			found = append(found, one)
		}
	}
	return found
}

// A halt alerts by itself, once, however many entries it refuses and however often it is asked for.
func TestAHaltAlertsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := new(alerts)
		r := newRig(t, nil, func(c *Config) { c.Alert = said.say })
		for n := range 2 {
			for range 3 {
				r.operate("POST", "/halt", `{"reason":"news"}`, nil)
				assert.Equal(t, 403, r.do(r.live, "POST /orders", buy).status)
			}
			assert.Len(t, said.with("halted: news"), n+1)
			r.operate("POST", "/resume", `{}`, nil)
			assert.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
		}
		r.operate("POST", "/halt", `{"reason":"other news"}`, nil)
		assert.Len(t, said.with("halted: other news"), 1)
		r.operate("POST", "/flatten", `{"reason":"night","accounts":["acc_1"]}`, nil)
		assert.Len(t, said.with("halted: flatten: night"), 1)
		assert.Len(t, said.all, 4)
	})
}

// A guard of the program that takes no entries alerts when it refuses the first, and again once one
// has passed.
func TestAGuardThatHaltsAlertsOnce(t *testing.T) {
	said, halted := new(alerts), true
	r := newRig(t, nil, func(c *Config) {
		c.Alert = said.say
		c.Options = append(c.Options, trading.WithGuard(func(_ context.Context, w trading.Write) error {
			if halted && w.Entry {
				return fmt.Errorf("%w: the desk is closed", protect.ErrHalted)
			}
			return nil
		}))
	})
	for n := range 2 {
		halted = true
		for range 3 {
			assert.Equal(t, 403, r.do(r.live, "POST /orders", buy).status)
		}
		assert.Len(t, said.with("the desk is closed"), n+1)
		halted = false
		assert.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
	}
	assert.Len(t, said.all, 2)
}

// A protection that halts an account alerts once, and the entries that it refuses do not.
func TestAProtectionThatHaltsAlertsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := new(alerts)
		r := newRig(t, []tradingsim.Option{tradingsim.WithFeed("BTC", breathing{})}, func(c *Config) {
			c.Protect.Accounts = []trading.AccountID{"acc_1"}
			c.Alert = said.say
		})
		r.server.background()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.Empty(t, said.all, "a start that goes well")
		assert.NoError(t, r.server.guard.Halt("acc_1", "look at the fills"))
		for range 3 {
			assert.Equal(t, 403, r.do(r.live, "POST /orders", buy).status)
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		assert.Len(t, said.with("look at the fills"), 1)
		assert.Len(t, said.all, 1)
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.DropRequest() })
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Len(t, said.with("blind began"), 1)
	})
}
