package trading

import "github.com/shopspring/decimal"

// Mark is the current price of a market, which may be absent. The zero value
// is unpriced.
//
// The service has four ways to say that it has no price: null, a symbol that
// is missing from the list of prices, 404 no_price, and a PnL that is null. A
// missing mark is never zero, and a price that is not positive is none. All of
// them are the unpriced Mark, and [Mark.Price] is the only way to the number.
//
// Marks are read from a cache and can be some seconds old: what an order
// really paid is in its [Fill].
//
// A Mark prints as its price or "unpriced" and marshals as a JSON number or
// null. Compare with [Mark.Equal]; == does not compile.
type Mark struct {
	_     incomparable
	price decimal.Decimal // zero if unpriced, positive otherwise
}

// incomparable makes == on a struct a compile-time error: two equal decimals
// differ under ==, since each points to digits of its own.
type incomparable [0]func()

// MarkAt returns the mark at price, which is unpriced unless price is positive.
func MarkAt(price decimal.Decimal) Mark {
	if !price.IsPositive() {
		return Mark{}
	}
	return Mark{price: price}
}

// Price returns the price; ok is false if the market is unpriced.
func (m Mark) Price() (price decimal.Decimal, ok bool) {
	return m.price, m.price.IsPositive()
}

// Equal reports whether both are unpriced or both have the same price.
func (m Mark) Equal(other Mark) bool { return m.price.Equal(other.price) }

// IsZero reports whether m is unpriced, for the JSON option omitzero.
func (m Mark) IsZero() bool { return !m.price.IsPositive() }

// String returns the price in plain notation, or "unpriced".
func (m Mark) String() string {
	if m.IsZero() {
		return "unpriced"
	}
	return numberText(m.price)
}

// MarshalJSON returns the price as a JSON number, or null.
func (m Mark) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return numberJSON(m.price, "mark")
}

// UnmarshalJSON reads null or a JSON number; one that is not positive gives an
// unpriced mark. On an error m becomes unpriced and keeps no older price.
func (m *Mark) UnmarshalJSON(data []byte) error {
	*m = Mark{}
	if isNull(data) {
		return nil
	}
	price, err := parseNumber(data, "mark")
	if err != nil {
		return err
	}
	*m = MarkAt(price)
	return nil
}
