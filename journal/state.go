package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc64"

	"go.etcd.io/bbolt"
)

// A file of formatWhole holds everything. One of formatLogged is the lesser part
// of a pair: what was written since its last commit is in the log beside it. What
// an older version must not overlook takes the next number.
const (
	formatWhole  = 1
	formatLogged = 2
	format       = formatLogged // the newest that this version knows
)

// totals describe what the tables hold, for Open to tell whether it is all there.
type totals struct {
	begun   uint64 // the last entry's number
	history uint64 // how many rows tableHistory has
	rows    uint64 // how many all tables have
	digest  uint64 // the sum of all rows' digests
}

// state is what a commit notes of the file.
type state struct {
	format uint64
	totals
	log        uint64 // the ID of the log that goes on from here; none if whole
	generation uint64 // of the log's frames that go on from here
}

// whole is the state of a file that needs no log.
func (s *state) whole() state { return state{format: formatWhole, totals: s.totals} }

// logged is the state of a file that goes on in a log.
func (s *state) logged(log, generation uint64) state {
	return state{format: formatLogged, totals: s.totals, log: log, generation: generation}
}

var errState = errors.New("no valid record of what it holds")

func (s *state) numbers() []*uint64 {
	numbers := []*uint64{&s.format, &s.begun, &s.history, &s.rows, &s.digest}
	if s.format == formatLogged {
		numbers = append(numbers, &s.log, &s.generation)
	}
	return numbers
}

func (s *state) encode() []byte {
	var b []byte
	for _, n := range s.numbers() {
		b = binary.BigEndian.AppendUint64(b, *n)
	}
	return binary.BigEndian.AppendUint64(b, crc64.Checksum(b, polynomial))
}

// decodeState reads the format first: all else may change with it.
func decodeState(b []byte) (state, error) {
	if len(b) < 8 {
		return state{}, errState
	}
	s := state{format: binary.BigEndian.Uint64(b)}
	if s.format > format && s.format < 1<<16 {
		return s, nil
	}
	numbers := s.numbers()
	end := 8 * len(numbers)
	if s.format < formatWhole || s.format > format || len(b) != end+8 ||
		binary.BigEndian.Uint64(b[end:]) != crc64.Checksum(b[:end], polynomial) {
		return state{}, errState
	}
	for i, n := range numbers {
		*n = binary.BigEndian.Uint64(b[8*i:])
	}
	return s, nil
}

// readState returns the state of the last commit.
func readState(tx *bbolt.Tx) (state, error) { return decodeState(tx.Bucket(bucketState).Get(keyState)) }

func writeState(tx *bbolt.Tx, s state) error { return tx.Bucket(bucketState).Put(keyState, s.encode()) }
