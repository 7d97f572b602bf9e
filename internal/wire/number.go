package wire

// number is what one pass over a JSON number finds out.
type number struct {
	end         int   // bytes that belong to the number
	coefficient int64 // the digits as an integer with the sign; meaningful up to 18 significant digits
	digits      int   // significant digits, that is without leading zeros
	fraction    int   // digits after the point
	exponent    int   // as written; capped far beyond any accepted one
}

// exponentCap keeps the exponent from overflowing however many digits it has.
const exponentCap = 1_000_000

// scanNumber reads the longest JSON number that text begins with.
func scanNumber(text []byte) (n number, ok bool) {
	i := 0
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	start := i
	i = n.scanDigits(text, i)
	if i == start || (text[start] == '0' && i > start+1) {
		return n, false
	}
	if i < len(text) && text[i] == '.' {
		start = i + 1
		i = n.scanDigits(text, start)
		if i == start {
			return n, false
		}
		n.fraction = i - start
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i, ok = n.scanExponent(text, i+1); !ok {
			return n, false
		}
	}
	if negative {
		n.coefficient = -n.coefficient
	}
	n.end = i
	return n, true
}

func (n *number) scanDigits(text []byte, i int) int {
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		if n.digits > 0 || c != 0 {
			n.digits++
			// Wraps around beyond 18 digits, where nobody reads it.
			n.coefficient = n.coefficient*10 + int64(c)
		}
	}
	return i
}

func (n *number) scanExponent(text []byte, i int) (end int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	start := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			break
		}
		n.exponent = min(n.exponent*10+int(c), exponentCap)
	}
	if negative {
		n.exponent = -n.exponent
	}
	return i, i > start
}
