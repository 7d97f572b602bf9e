package watch

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go"
)

// Health watches the service's assessment of itself, which it makes anew every five
// seconds. Where it cannot be read, that is an error and no event: take it for unsafe.
func Health(c *trading.Client) Watch {
	if c == nil {
		return misuse("health", "watch: Health needs a client")
	}
	w := Watch{name: "health", open: func() source { return healthSource{c} }}
	return w.WithInterval(5 * time.Second)
}

type healthSource struct{ client *trading.Client }

type healthLook struct {
	at     time.Time
	health *trading.Health
}

func (s healthSource) look(ctx context.Context, _ look) (look, bool, error) {
	health, err := s.client.Health(ctx)
	if err != nil {
		return nil, false, err
	}
	return &healthLook{time.Now(), health}, false, nil
}

func (is *healthLook) since(before look) []Event {
	was, _ := before.(*healthLook)
	now := is.health
	if was == nil {
		return []Event{HealthChanged{At: is.at, New: now}}
	}
	old := was.health
	if old.OK == now.OK && old.Status == now.Status && old.Feed == now.Feed {
		return nil
	}
	return []Event{HealthChanged{is.at, old, now}}
}
