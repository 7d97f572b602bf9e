package trading

import "context"

// CheckHealth asks the health gate of a client, as an entry does.
func CheckHealth(ctx context.Context, c *Client) error { return c.core.gate.check(ctx) }
