package journal

import (
	"encoding/binary"
	"errors"
	"math/big"
	"time"

	"github.com/shopspring/decimal"
)

// A record is a sequence of fields: number, length, bytes. Zero values are left
// out, and numbers that are not known are skipped, so a field can be added
// without a new format as long as an older version may ignore it.

var errRecord = errors.New("a record that cannot be read")

func appendField(b []byte, number uint64, value []byte) []byte {
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

func appendText[T ~string | ~[]byte](b []byte, number uint64, value T) []byte {
	if len(value) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

func appendInt(b []byte, number uint64, value int64) []byte {
	if value == 0 {
		return b
	}
	var room [binary.MaxVarintLen64]byte
	return appendField(b, number, binary.AppendVarint(room[:0], value))
}

func appendBool(b []byte, number uint64, value bool) []byte {
	if !value {
		return b
	}
	return appendField(b, number, nil)
}

func appendTime(b []byte, number uint64, value time.Time) []byte {
	if value.IsZero() {
		return b
	}
	var room [2 * binary.MaxVarintLen64]byte
	v := binary.AppendVarint(room[:0], value.Unix())
	v = binary.AppendUvarint(v, uint64(value.Nanosecond()))
	return appendField(b, number, v)
}

// How large a decimal can be. What the service sends is far below, and an
// exponent is not free: comparing 1e999999999 with 1 takes gigabytes.
const (
	maxExponent    = 1000
	maxCoefficient = 4096
)

func appendDecimal(b []byte, number uint64, value decimal.Decimal) ([]byte, error) {
	coefficient := value.Coefficient()
	exponent := int64(value.Exponent())
	if coefficient.Sign() == 0 {
		return b, nil
	}
	digits := coefficient.Bytes()
	if exponent < -maxExponent || exponent > maxExponent || len(digits) > maxCoefficient {
		return nil, errors.New("journal: a number is too large to be written")
	}
	v := binary.AppendVarint(make([]byte, 0, binary.MaxVarintLen64+1+len(digits)), exponent)
	v = append(v, byte(coefficient.Sign()+1)) // 0 or 2
	return appendField(b, number, append(v, digits...)), nil
}

// fields calls f for each field of a record.
func fields(record []byte, f func(number uint64, value []byte) error) error {
	for len(record) > 0 {
		number, n := binary.Uvarint(record)
		if n <= 0 || number == 0 {
			return errRecord
		}
		record = record[n:]
		length, n := binary.Uvarint(record)
		if n <= 0 || length > uint64(len(record)-n) {
			return errRecord
		}
		record = record[n:]
		if err := f(number, record[:length]); err != nil {
			return err
		}
		record = record[length:]
	}
	return nil
}

func readText[T ~string](to *T, value []byte) error {
	*to = T(value)
	return nil
}

func readBytes(to *[]byte, value []byte) error {
	*to = append([]byte(nil), value...)
	return nil
}

func readInt[T ~int | ~uint8](to *T, value []byte) error {
	v, n := binary.Varint(value)
	if n <= 0 || n != len(value) || int64(T(v)) != v {
		return errRecord
	}
	*to = T(v)
	return nil
}

func readBool(to *bool, value []byte) error {
	if len(value) != 0 {
		return errRecord
	}
	*to = true
	return nil
}

func readTime(to *time.Time, value []byte) error {
	seconds, n := binary.Varint(value)
	if n <= 0 {
		return errRecord
	}
	nanoseconds, m := binary.Uvarint(value[n:])
	if m <= 0 || n+m != len(value) || nanoseconds >= uint64(time.Second) {
		return errRecord
	}
	*to = time.Unix(seconds, int64(nanoseconds)).UTC()
	return nil
}

func readDecimal(to *decimal.Decimal, value []byte) error {
	exponent, n := binary.Varint(value)
	if n <= 0 || n == len(value) || exponent < -maxExponent || exponent > maxExponent {
		return errRecord
	}
	sign, digits := value[n], value[n+1:]
	if sign != 0 && sign != 2 || len(digits) > maxCoefficient {
		return errRecord
	}
	coefficient := new(big.Int).SetBytes(digits)
	if sign == 0 {
		coefficient.Neg(coefficient)
	}
	*to = decimal.NewFromBigInt(coefficient, int32(exponent))
	return nil
}
