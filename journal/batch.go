package journal

import "encoding/binary"

// A frame's payload is the totals after its batch, and each row that the batch has
// put or, with an empty value, removed: table, lengths, key, value.

func encodeBatch(b []byte, rows *layer, now totals) []byte {
	b = appendNumbers(b, now.begun, now.history, now.rows, now.digest)
	for t := range rows {
		for _, row := range rows[t] {
			b = append(b, byte(t))
			b = binary.AppendUvarint(b, uint64(len(row.key)))
			b = binary.AppendUvarint(b, uint64(len(row.value)))
			b = append(append(b, row.key...), row.value...)
		}
	}
	return b
}

// decodeBatch calls put for each row, with memory of the payload.
func decodeBatch(payload []byte, put func(t table, key, value []byte)) (totals, error) {
	const size = 4 * 8
	if len(payload) < size {
		return totals{}, errRecord
	}
	now := totals{begun: number(payload, 0), history: number(payload, 1), rows: number(payload, 2), digest: number(payload, 3)}
	for b := payload[size:]; len(b) > 0; {
		t := table(b[0])
		b = b[1:]
		var lengths [2]uint64
		for i := range lengths {
			length, n := binary.Uvarint(b)
			if n <= 0 {
				return totals{}, errRecord
			}
			lengths[i], b = length, b[n:]
		}
		key, value := lengths[0], lengths[1]
		if t >= tableCount || key == 0 || key > uint64(len(b)) || value > uint64(len(b))-key {
			return totals{}, errRecord
		}
		put(t, b[:key:key], b[key:key+value:key+value])
		b = b[key+value:]
	}
	return now, nil
}
