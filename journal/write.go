package journal

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// maxName is the length of an ID or a decision's name that the tables can hold.
const maxName = 8 << 10

var errTooLong = fmt.Errorf("journal: an ID or a decision has at most %d bytes", maxName)

// begin puts an intent's record, in the place of an earlier one that is pending.
func (j *Journal) begin(c *change, id trading.IntentID, decision string, record []byte, now time.Time) error {
	number := c.number(string(id))
	switch {
	case number == nil:
		c.begun++
		number = numberKey(c.begun)
		c.put(tableIDs, []byte(id), number)
		c.put(tablePending, number, present)
	case c.get(tablePending, number) == nil:
		return refusal{fmt.Errorf("%w: %s", trading.ErrSettled, id)}
	default:
		old, err := decodeEntry(c.get(tableEntries, number))
		if err != nil {
			return err
		}
		if name := old.Intent.Decision; name != decision && name != "" {
			c.remove(tableDecisions, decisionKey(name, number))
		}
	}
	if decision != "" {
		c.put(tableDecisions, decisionKey(decision, number), present)
	}
	c.put(tableEntries, number, record)
	return j.forget(c, now)
}

// settle appends a settlement's record to its intent's.
func (j *Journal) settle(c *change, id trading.IntentID, record []byte, at time.Time) error {
	number := c.number(string(id))
	if number == nil {
		return refusal{fmt.Errorf("%w: %s", trading.ErrUnknownIntent, id)}
	}
	if c.get(tablePending, number) == nil {
		return nil
	}
	intent := c.get(tableEntries, number)
	entry, err := decodeEntry(intent)
	if err != nil {
		return err
	}
	if at.IsZero() { // and yet it is not over since the year 1
		at = entry.Intent.Created
	}
	table := tableDecided
	if entry.Intent.Decision == "" {
		table = tableHistory
		c.history++
	}
	c.remove(tablePending, number)
	c.put(table, timeKey(at, number), present)
	c.put(tableEntries, number, append(bytes.Clone(intent), record...))
	return j.forget(c, at)
}

// forget deletes a few of what was settled too long before now, or is too much.
// A write adds one at most, so a few for each are enough, and if a clock is wrong
// for a moment it does not cost all.
func (j *Journal) forget(c *change, now time.Time) error {
	const few = 4
	before := timeKey(now.Add(-j.options.Keep), nil)
	for _, table := range []table{tableDecided, tableHistory} {
		var over [][]byte
		for key := range c.scan(table, nil) {
			tooMany := table == tableHistory && c.history > uint64(j.options.History+len(over))
			if len(over) == few || !tooMany && bytes.Compare(key, before) >= 0 {
				break
			}
			over = append(over, bytes.Clone(key))
		}
		for _, key := range over {
			if err := c.drop(table, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop deletes a settled entry, which is in the table under the key.
func (c *change) drop(table table, key []byte) error {
	number := numberOf(key)
	entry, err := decodeEntry(c.get(tableEntries, number))
	if err != nil {
		return err
	}
	if table == tableHistory {
		c.history--
	}
	c.remove(table, key)
	c.remove(tableEntries, number)
	c.remove(tableIDs, []byte(entry.Intent.ID))
	if name := entry.Intent.Decision; name != "" {
		c.remove(tableDecisions, decisionKey(name, number))
	}
	return nil
}

// refusal is an error of one write that leaves the others of its batch alone.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }
