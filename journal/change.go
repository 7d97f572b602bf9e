package journal

import "bytes"

// change is what a batch of writes does to the tables, as a layer of its own on
// top of them, and the totals that go with it.
type change struct {
	snapshot
	totals
}

// newChange begins one over a snapshot.
func newChange(over *snapshot, now totals) *change {
	layers := append([]*layer{new(layer)}, over.layers...)
	return &change{snapshot: snapshot{tx: over.tx, layers: layers}, totals: now}
}

// top is the change's own layer.
func (c *change) top() *layer { return c.layers[0] }

// put takes the key and the value as its own.
func (c *change) put(t table, key, value []byte) {
	c.discount(t, key)
	c.digest += digestRow(t.name(), key, value)
	c.rows++
	c.top().put(t, key, value)
}

// remove takes the key as its own.
func (c *change) remove(t table, key []byte) {
	if c.discount(t, key) {
		c.top().put(t, key, nil)
	}
}

// discount takes a row out of the totals, and reports whether there was one.
func (c *change) discount(t table, key []byte) bool {
	old := c.get(t, key)
	if len(old) == 0 {
		return false
	}
	c.digest -= digestRow(t.name(), key, old)
	c.rows--
	return true
}

// number returns the number of an intent, in memory of its own; nil if the
// journal does not know it.
func (c *change) number(id string) []byte { return bytes.Clone(c.get(tableIDs, []byte(id))) }
