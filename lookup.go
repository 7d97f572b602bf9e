package trading

import "context"

// ClientOrder returns what the journal says of the write that has a client order id, pending ones
// too, and sends nothing. It is nil if the journal knows none: one that was never journaled, or whose
// id was forgotten. The paper account has no ids: there [Client.Pending] has the tag of each write
// whose outcome is not known.
func (c *Client) ClientOrder(ctx context.Context, account AccountID, op Operation, id string) (*JournaledWrite, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	source := keySource{id: id}
	found, err := c.core.driver.Named(ctx, source.name(account, op))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return DescribeHistory(found[len(found)-1])
}
