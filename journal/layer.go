package journal

import (
	"bytes"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
)

// row is one that was put over those below it; without a value, one that was
// removed. Neither its key nor its value is ever written to.
type row struct{ key, value []byte }

func (r row) compare(key []byte) int { return bytes.Compare(r.key, key) }

// layer holds rows of each table in the order of their keys.
type layer [tableCount][]row

func (l *layer) find(t table, key []byte) (row, bool) {
	if i, ok := slices.BinarySearchFunc(l[t], key, row.compare); ok {
		return l[t][i], true
	}
	return row{}, false
}

// put takes the key and the value as its own.
func (l *layer) put(t table, key, value []byte) {
	i, ok := slices.BinarySearchFunc(l[t], key, row.compare)
	if !ok {
		l[t] = slices.Insert(l[t], i, row{})
	}
	l[t][i] = row{key, value}
}

// under returns what both hold, where the other is on top. Both stay as they are:
// somebody may be reading them.
func (l *layer) under(top *layer) *layer {
	both := *l
	for t := range both {
		if len(top[t]) > 0 {
			both[t] = mergeRows(l[t], top[t])
		}
	}
	return &both
}

func mergeRows(below, top []row) []row {
	merged := make([]row, 0, len(below)+len(top))
	for len(below) > 0 && len(top) > 0 {
		order := bytes.Compare(below[0].key, top[0].key)
		if order < 0 {
			merged, below = append(merged, below[0]), below[1:]
			continue
		}
		if order == 0 {
			below = below[1:]
		}
		merged, top = append(merged, top[0]), top[1:]
	}
	return append(append(merged, below...), top...)
}

// empty reports whether it holds nothing.
func (l *layer) empty() bool {
	return !slices.ContainsFunc(l[:], func(rows []row) bool { return len(rows) > 0 })
}

// snapshot is the tables of a transaction below layers, the first of which is on
// top.
type snapshot struct {
	tx     *bbolt.Tx
	layers []*layer
}

// get returns a row's value, nil if there is none; it is not to be written to, and
// valid until the transaction ends.
func (s *snapshot) get(t table, key []byte) []byte {
	for _, l := range s.layers {
		if row, ok := l.find(t, key); ok {
			return row.value
		}
	}
	return s.tx.Bucket(t.name()).Get(key)
}

// scan yields keys and values from a key on, in order. The tables must not change
// meanwhile.
func (s *snapshot) scan(t table, from []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		layers := make([][]row, len(s.layers))
		for i, l := range s.layers {
			at, _ := slices.BinarySearchFunc(l[t], from, row.compare)
			layers[i] = l[t][at:]
		}
		cursor := s.tx.Bucket(t.name()).Cursor()
		key, value := cursor.Seek(from)
		for {
			next := row{key: key, value: value}
			for _, rows := range layers {
				if len(rows) > 0 && (next.key == nil || rows[0].compare(next.key) < 0) {
					next = rows[0]
				}
			}
			if next.key == nil {
				return
			}
			if key != nil && bytes.Equal(key, next.key) {
				key, value = cursor.Next()
			}
			for i := len(layers) - 1; i >= 0; i-- { // the one on top is the last to say
				if rows := layers[i]; len(rows) > 0 && rows[0].compare(next.key) == 0 {
					next, layers[i] = rows[0], rows[1:]
				}
			}
			if len(next.value) > 0 && !yield(next.key, next.value) {
				return
			}
		}
	}
}
