package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc64"
	"time"
)

// table is one of the file's tables. An entry is named by a number that counts
// what was begun; the other tables lead to it. Their order is part of the format
// of the log.
type table uint8

const (
	tableEntries   table = iota // number → record
	tableIDs                    // intent's ID → number
	tablePending                // number
	tableDecisions              // length and name of the decision, number
	tableDecided                // time of the settlement, number: of those with a decision
	tableHistory                // the same of those without
	tableCount
)

var tableNames = [tableCount]string{"entries", "ids", "pending", "decisions", "decided", "history"}

// name is that of the table's bucket.
func (t table) name() []byte { return []byte(tableNames[t]) }

// The bucket of the state, and its one row.
var (
	bucketState = []byte("state")
	keyState    = []byte("state")
)

// present is the value of a row that says all with its key. An empty value is
// none: it stands for a row that was removed.
var present = []byte{1}

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
