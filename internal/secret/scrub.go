package secret

import "bytes"

const (
	// leastAlone is how long a secret part has to be to be looked for without its
	// public prefix: a shorter one can be a word.
	leastAlone = 8
	// leastCut is how much of the secret part has to follow the public prefix to be
	// taken for the beginning of the key.
	leastCut = 4
)

// scrub returns b without the keys, however their characters are written. It is b
// itself if b has none.
func scrub(b []byte, keys []APIKey) []byte {
	var clean []byte
	copied := 0
	for i := 0; i < len(b); {
		n := 0
		for _, k := range keys {
			n = max(n, k.at(b[i:]))
		}
		if n == 0 {
			i++
			continue
		}
		clean = append(append(clean, b[copied:i]...), Redacted...)
		i += n
		copied = i
	}
	if copied > 0 {
		b = append(clean, b[copied:]...)
	}
	// A key may itself have characters that look like an encoding.
	for _, k := range keys {
		if sign := []byte(k.text.least); bytes.Contains(b, sign) {
			b = bytes.ReplaceAll(b, sign, []byte(Redacted))
		}
	}
	return b
}

// at returns how many bytes of the key b begins with; 0 if it is not the key's.
func (k APIKey) at(b []byte) int {
	public := k.text.public
	n, matched, ended := run(b, k.text.header[0])
	switch {
	case matched == len(k.text.header[0]):
		return n
	case public > 0 && matched > public && ended:
		return len(b)
	case public > 0 && matched >= public+leastCut:
		return n
	}
	secret := k.text.secret
	if len(secret) < leastAlone {
		return 0
	}
	n, matched, ended = run(b, secret)
	switch {
	case matched == len(secret):
		return n
	case matched >= leastAlone && ended:
		return len(b)
	default:
		return 0
	}
}

// run compares b with want, character by character, whatever way b writes them. It
// returns how many characters of want b begins with, in how many bytes, and whether b
// ended before they could differ.
func run(b []byte, want string) (n, matched int, ended bool) {
	for matched < len(want) {
		c, size, cut := character(b[n:])
		switch {
		case cut:
			return n, matched, true
		case c == want[matched]:
			n += size
		case b[n] == want[matched]:
			n++
		default:
			return n, matched, false
		}
		matched++
	}
	return n, matched, n == len(b)
}

// character reads the first character of b, which may be escaped as in JSON or
// percent-encoded. It is cut if b ends before it does.
func character(b []byte) (c byte, size int, cut bool) {
	if len(b) == 0 {
		return 0, 0, true
	}
	switch b[0] {
	case '%':
		return encoded(b, 1, 2)
	case '\\':
		if len(b) == 1 {
			return 0, 0, true
		}
		switch b[1] {
		case 'u':
			return encoded(b, 2, 4)
		case 'x':
			return encoded(b, 2, 2)
		case '/', '\\', '"':
			return b[1], 2, false
		}
	}
	return b[0], 1, false
}

// encoded reads digits hexadecimal digits behind the first skip bytes of b. Where
// there are none, b begins with a character that stands for itself.
func encoded(b []byte, skip, digits int) (c byte, size int, cut bool) {
	value := 0
	for i := skip; i < skip+digits; i++ {
		if i == len(b) {
			return 0, 0, true
		}
		digit := bytes.IndexByte([]byte("0123456789abcdef"), b[i]|0x20)
		if digit < 0 {
			return b[0], 1, false
		}
		value = value<<4 | digit
	}
	if value > 0x7f {
		return b[0], 1, false
	}
	return byte(value), skip + digits, false
}
