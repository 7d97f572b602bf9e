package record

import "bytes"

var keyPrefixes = [...][]byte{[]byte("pk_live_"), []byte("pk_test_")}

var redacted = []byte("[redacted]")

// redact takes out of an encoded line whatever looks like an API key. The client
// has taken its own keys out of all that came from outside; this catches what it
// cannot know: a key of somebody else, one that was rotated away, one that a proxy
// has escaped, one that a program put into a tag.
//
// What follows the prefix is taken to the end of the string or to the next white
// space, escapes included, so that the line stays JSON.
func redact(line []byte) []byte {
	if !bytes.Contains(line, []byte("pk_")) {
		return line // nearly always
	}
	clean := make([]byte, 0, len(line))
	for len(line) > 0 {
		at, secret := nextKey(line)
		clean = append(clean, line[:at]...)
		line = line[at:]
		if len(line) == 0 {
			break
		}
		end := secret - at
		clean = append(clean, line[:end]...)
		line = line[end:]
		if n := secretLen(line); n > 0 {
			clean = append(clean, redacted...)
			line = line[n:]
		}
	}
	return clean
}

// nextKey finds the next prefix of a key, and where its secret part begins; both are
// the end where there is none.
func nextKey(line []byte) (at, secret int) {
	at, secret = len(line), len(line)
	for _, prefix := range keyPrefixes {
		if i := bytes.Index(line[:min(len(line), at+len(prefix))], prefix); i >= 0 && i < at {
			at, secret = i, i+len(prefix)
		}
	}
	return at, secret
}

func secretLen(line []byte) int {
	n := 0
	for n < len(line) {
		switch c := line[n]; {
		case c == '\\' && n+1 < len(line):
			n += 2
		case c <= ' ' || c > '~' || c == '"':
			return n
		default:
			n++
		}
	}
	return n
}
