package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"time"

	"go.etcd.io/bbolt"
)

// The file's tables. An entry is named by a number that counts what was begun;
// the other tables lead to it.
var (
	tableEntries   = []byte("entries")   // number → record
	tableIDs       = []byte("ids")       // intent's ID → number
	tablePending   = []byte("pending")   // number
	tableDecisions = []byte("decisions") // length and name of the decision, number
	tableDecided   = []byte("decided")   // time of the settlement, number: of those with a decision
	tableHistory   = []byte("history")   // the same of those without
	tableState     = []byte("state")     // one record
	tables         = [][]byte{tableEntries, tableIDs, tablePending, tableDecisions, tableDecided, tableHistory}
	keyState       = []byte("state")
)

// present is the value of a row that says all with its key. An empty one would
// not be told from none within its transaction.
var present = []byte{1}

// format is what this version writes. A change that an older version must not
// overlook takes the next one.
const format = 1

// state describes what the tables hold, for Open to tell whether it is all there.
type state struct {
	format  uint64
	begun   uint64 // the last entry's number
	history uint64 // how many rows tableHistory has
	rows    uint64 // how many all tables have
	digest  uint64 // the sum of all rows' digests
}

var errState = errors.New("no valid record of what it holds")

func (s *state) encode() []byte {
	var b []byte
	for _, n := range []uint64{s.format, s.begun, s.history, s.rows, s.digest} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return binary.BigEndian.AppendUint64(b, crc64.Checksum(b, polynomial))
}

// decodeState reads the format first: all else may change with it.
func decodeState(b []byte) (state, error) {
	const size = 6 * 8
	if len(b) < 8 {
		return state{}, errState
	}
	s := state{format: binary.BigEndian.Uint64(b)}
	if s.format > format && s.format < 1<<16 {
		return s, nil
	}
	if len(b) != size || binary.BigEndian.Uint64(b[size-8:]) != crc64.Checksum(b[:size-8], polynomial) || s.format != format {
		return state{}, errState
	}
	for i, n := range []*uint64{&s.begun, &s.history, &s.rows, &s.digest} {
		*n = binary.BigEndian.Uint64(b[8*(i+1):])
	}
	return s, nil
}

var polynomial = crc64.MakeTable(crc64.ECMA)

// digestRow digests one row. The sum over all rows does not depend on their
// order, so a write need not read the others.
func digestRow(table, key, value []byte) uint64 {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(key)))
	sum := crc64.Update(0, polynomial, table)
	sum = crc64.Update(sum, polynomial, length[:])
	sum = crc64.Update(sum, polynomial, key)
	sum = crc64.Update(sum, polynomial, value)
	// A checksum of this kind is linear, and a sum of such can hide what belongs
	// together: this mixes the bits.
	sum ^= sum >> 30
	sum *= 0xbf58476d1ce4e5b9
	sum ^= sum >> 27
	sum *= 0x94d049bb133111eb
	return sum ^ sum>>31
}

// change is a transaction that keeps the state.
type change struct {
	tx      *bbolt.Tx
	state   state
	changed bool
}

func (c *change) get(table, key []byte) []byte { return c.tx.Bucket(table).Get(key) }

func (c *change) put(table, key, value []byte) error {
	bucket := c.tx.Bucket(table)
	if old := bucket.Get(key); old != nil {
		c.state.digest -= digestRow(table, key, old)
		c.state.rows--
	}
	c.state.digest += digestRow(table, key, value)
	c.state.rows++
	c.changed = true
	return bucket.Put(key, value)
}

func (c *change) remove(table, key []byte) error {
	bucket := c.tx.Bucket(table)
	old := bucket.Get(key)
	if old == nil {
		return nil
	}
	c.state.digest -= digestRow(table, key, old)
	c.state.rows--
	c.changed = true
	return bucket.Delete(key)
}

func numberKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

// decisionKey has the length first, so that no name is the beginning of another.
func decisionKey(decision string, number []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(decision)+8), uint32(len(decision)))
	b = append(b, decision...)
	return append(b, number...)
}

// timeKey sorts by time: seconds from the earliest, nanoseconds, number.
func timeKey(at time.Time, number []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 8+4+8), uint64(at.Unix())^1<<63)
	b = binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond()))
	return append(b, number...)
}

const numberSize = 8

func numberOf(key []byte) []byte { return bytes.Clone(key[len(key)-numberSize:]) }
