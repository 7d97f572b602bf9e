package trading

import (
	"encoding/json"
	"slices"
	"strings"
)

// bodyField is a member of a request that has no field here.
type bodyField struct {
	name  string
	value Setting
}

// WithField adds a member to the body of one write, for what the service takes and
// this version does not know. A member that the contract names is refused: it has
// a field, where it is checked.
func WithField(name string, value Setting) CallOption {
	return callOption(func(c *callOptions) error {
		switch {
		case name == "":
			return invalid("WithField", "the name is empty")
		case value.IsZero() || !value.valid():
			return invalid("WithField", "%q has no value", name)
		case slices.Contains(strings.Fields(contractMembers), name):
			return invalid("WithField", "%q has a field of its own", name)
		case slices.ContainsFunc(c.fields, func(f bodyField) bool { return f.name == name }):
			return invalid("WithField", "%q is given twice", name)
		}
		c.fields = append(slices.Clip(c.fields), bodyField{name, value})
		return nil
	})
}

// contractMembers are the members of every request of the contract. A second one
// of that name would be read by chance, or turn an exit into an entry.
const contractMembers = `accountId aggression chaseTo closePct closePercent durationMs endPrice execKind
	expectedPrice irregular leverage limitPrice maxSlippagePct orderId orderType pct randomizeSize randomizeTime
	reduceOnly runId side size sizeSkew slippageBps startPrice stopLossPrice symbol takeProfitPrice totalOrders
	totalSize triggerPrice`

// addFields puts the caller's own members behind those of the body.
func (c *call) addFields() error {
	if len(c.opts.fields) == 0 {
		return nil
	}
	if len(c.body) == 0 {
		return invalid("WithField", "%s has no body", c.endpoint.op)
	}
	body := slices.Clone(c.body)
	body = body[:len(body)-1]
	for _, f := range c.opts.fields {
		if body[len(body)-1] != '{' {
			body = append(body, ',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return invalidFor("WithField", err)
		}
		body = append(append(append(body, name...), ':'), f.value.json...)
	}
	body = append(body, '}')
	c.body = body
	return nil
}
