package journal

import (
	"encoding/binary"
	"fmt"

	"github.com/tradingapi/trading-go"
)

// An entry's record is its intent's and, once there is one, its settlement's,
// which is appended without a look at the intent: fields of a newer version stay.
const (
	fieldIntent     = 1
	fieldSettlement = 2
)

func encodeIntent(in *trading.Intent) ([]byte, error) {
	b := make([]byte, 0, 512+len(in.Body))
	b = appendText(b, 1, in.ID)
	b = appendText(b, 2, in.Decision)
	b = appendInt(b, 3, int64(in.Try))
	b = appendText(b, 4, in.Key)
	b = appendText(b, 5, in.Tag)
	b = appendText(b, 6, in.BaseURL)
	b = appendText(b, 7, in.Process)
	b = appendText(b, 8, in.Operation)
	b = appendText(b, 9, in.Environment)
	b = appendText(b, 10, in.Account)
	b = appendText(b, 11, in.Symbol)
	b = appendText(b, 12, in.Body)
	b = appendBool(b, 13, in.Entry)
	b = appendTime(b, 14, in.Created)
	b = appendTime(b, 15, in.Expires)
	b = appendBool(b, 16, in.Fenced)
	if baseline, ok := in.Baseline.Get(); ok {
		v, err := encodeBaseline(&baseline)
		if err != nil {
			return nil, err
		}
		b = appendField(b, 17, v)
	}
	if in.Beside {
		b = appendBool(b, 18, true) // left out otherwise, as by the versions before it
	}
	return appendField(make([]byte, 0, len(b)+8), fieldIntent, b), nil
}

func encodeBaseline(baseline *trading.Baseline) ([]byte, error) {
	b, err := appendDecimal(appendTime(nil, 1, baseline.At), 2, baseline.Size)
	if err != nil {
		return nil, err
	}
	if b, err = appendDecimal(b, 3, baseline.EntryPrice); err != nil {
		return nil, err
	}
	for _, id := range baseline.Orders {
		b = appendField(b, 4, []byte(id))
	}
	for _, id := range baseline.Runs {
		b = appendField(b, 5, []byte(id))
	}
	if len(baseline.Trades) > 0 {
		digests := make([]byte, 0, 8*len(baseline.Trades))
		for _, digest := range baseline.Trades {
			digests = binary.BigEndian.AppendUint64(digests, digest)
		}
		b = appendField(b, 6, digests)
	}
	for _, id := range baseline.Finished {
		b = appendField(b, 7, []byte(id))
	}
	b = appendBool(b, 8, baseline.Armed)
	return b, nil
}

func encodeSettlement(s *trading.Settlement) []byte {
	b := make([]byte, 0, 64+len(s.Answer)+len(s.Note))
	b = appendInt(b, 1, int64(s.Outcome))
	b = appendTime(b, 2, s.At)
	b = appendInt(b, 3, int64(s.Basis))
	b = appendBool(b, 4, s.Spent)
	b = appendText(b, 5, s.Code)
	b = appendText(b, 6, s.Answer)
	b = appendText(b, 7, s.Note)
	return appendField(make([]byte, 0, len(b)+8), fieldSettlement, b)
}

// decodeEntry returns memory of its own.
func decodeEntry(record []byte) (trading.Entry, error) {
	var entry trading.Entry
	found := false
	err := fields(record, func(number uint64, value []byte) error {
		switch number {
		case fieldIntent:
			found = true
			return decodeIntent(&entry.Intent, value)
		case fieldSettlement:
			var s trading.Settlement
			err := decodeSettlement(&s, value)
			entry.Settlement = trading.Some(s)
			return err
		}
		return nil
	})
	if err == nil && (!found || entry.Intent.ID == "") {
		err = errRecord
	}
	if err != nil {
		return trading.Entry{}, fmt.Errorf("journal: %w", err)
	}
	return entry, nil
}

func decodeIntent(in *trading.Intent, record []byte) error {
	return fields(record, func(number uint64, value []byte) error {
		switch number {
		case 1:
			return readText(&in.ID, value)
		case 2:
			return readText(&in.Decision, value)
		case 3:
			return readInt(&in.Try, value)
		case 4:
			return readText(&in.Key, value)
		case 5:
			return readText(&in.Tag, value)
		case 6:
			return readText(&in.BaseURL, value)
		case 7:
			return readText(&in.Process, value)
		case 8:
			return readText(&in.Operation, value)
		case 9:
			return readText(&in.Environment, value)
		case 10:
			return readText(&in.Account, value)
		case 11:
			return readText(&in.Symbol, value)
		case 12:
			return readBytes(&in.Body, value)
		case 13:
			return readBool(&in.Entry, value)
		case 14:
			return readTime(&in.Created, value)
		case 15:
			return readTime(&in.Expires, value)
		case 16:
			return readBool(&in.Fenced, value)
		case 17:
			var baseline trading.Baseline
			err := decodeBaseline(&baseline, value)
			in.Baseline = trading.Some(baseline)
			return err
		case 18:
			return readBool(&in.Beside, value)
		}
		return nil
	})
}

func decodeBaseline(b *trading.Baseline, record []byte) error {
	return fields(record, func(number uint64, value []byte) error {
		switch number {
		case 1:
			return readTime(&b.At, value)
		case 2:
			return readDecimal(&b.Size, value)
		case 3:
			return readDecimal(&b.EntryPrice, value)
		case 4:
			b.Orders = append(b.Orders, trading.OrderID(value))
		case 5:
			b.Runs = append(b.Runs, trading.RunID(value))
		case 6:
			for ; len(value) >= 8; value = value[8:] {
				b.Trades = append(b.Trades, binary.BigEndian.Uint64(value))
			}
			if len(value) > 0 {
				return errRecord
			}
		case 7:
			b.Finished = append(b.Finished, trading.RunID(value))
		case 8:
			return readBool(&b.Armed, value)
		}
		return nil
	})
}

func decodeSettlement(s *trading.Settlement, record []byte) error {
	return fields(record, func(number uint64, value []byte) error {
		switch number {
		case 1:
			return readInt(&s.Outcome, value)
		case 2:
			return readTime(&s.At, value)
		case 3:
			return readInt(&s.Basis, value)
		case 4:
			return readBool(&s.Spent, value)
		case 5:
			return readText(&s.Code, value)
		case 6:
			return readBytes(&s.Answer, value)
		case 7:
			return readText(&s.Note, value)
		}
		return nil
	})
}
