package journal

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// maxName is the length of an ID or a decision's name that the tables can hold.
const maxName = 8 << 10

var errTooLong = fmt.Errorf("journal: an ID or a decision has at most %d bytes", maxName)

// begin puts an intent's record, in the place of an earlier one that is pending.
func (j *Journal) begin(c *change, id trading.IntentID, decision string, record []byte, now time.Time) error {
	number := bytes.Clone(c.get(tableIDs, []byte(id)))
	isNew := number == nil
	switch {
	case isNew:
		c.state.begun++
		number = numberKey(c.state.begun)
	case c.get(tablePending, number) == nil:
		return refusal{fmt.Errorf("%w: %s", trading.ErrSettled, id)}
	default:
		old, err := decodeEntry(c.get(tableEntries, number))
		if err != nil {
			return err
		}
		if name := old.Intent.Decision; name != decision && name != "" {
			if err := c.remove(tableDecisions, decisionKey(name, number)); err != nil {
				return err
			}
		}
	}
	if isNew {
		if err := errors.Join(c.put(tableIDs, []byte(id), number), c.put(tablePending, number, present)); err != nil {
			return err
		}
	}
	if decision != "" {
		if err := c.put(tableDecisions, decisionKey(decision, number), present); err != nil {
			return err
		}
	}
	if err := c.put(tableEntries, number, record); err != nil {
		return err
	}
	return j.forget(c, now)
}

// settle appends a settlement's record to its intent's.
func (j *Journal) settle(c *change, id trading.IntentID, record []byte, at time.Time) error {
	number := bytes.Clone(c.get(tableIDs, []byte(id)))
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
		c.state.history++
	}
	if err := errors.Join(
		c.remove(tablePending, number),
		c.put(table, timeKey(at, number), present),
		c.put(tableEntries, number, append(bytes.Clone(intent), record...)),
	); err != nil {
		return err
	}
	return j.forget(c, at)
}

// forget deletes a few of what was settled too long before now, or is too much.
// A write adds one at most, so a few for each are enough, and if a clock is wrong
// for a moment it does not cost all.
func (j *Journal) forget(c *change, now time.Time) error {
	const few = 4
	before := timeKey(now.Add(-j.options.Keep), nil)
	for _, table := range [][]byte{tableDecided, tableHistory} {
		cursor := c.tx.Bucket(table).Cursor()
		var over [][]byte
		for key, _ := cursor.First(); key != nil && len(over) < few; key, _ = cursor.Next() {
			tooMany := bytes.Equal(table, tableHistory) && c.state.history > uint64(j.options.History+len(over))
			if !tooMany && bytes.Compare(key, before) >= 0 {
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
func (c *change) drop(table, key []byte) error {
	number := numberOf(key)
	entry, err := decodeEntry(c.get(tableEntries, number))
	if err != nil {
		return err
	}
	if bytes.Equal(table, tableHistory) {
		c.state.history--
	}
	err = errors.Join(c.remove(table, key), c.remove(tableEntries, number), c.remove(tableIDs, []byte(entry.Intent.ID)))
	if name := entry.Intent.Decision; name != "" {
		err = errors.Join(err, c.remove(tableDecisions, decisionKey(name, number)))
	}
	return err
}

// refusal is an error of one write that leaves the others of its batch alone.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }
