package wire

import (
	"bytes"
	"strconv"
)

const (
	// Member names come from the input: an error must stay short whatever
	// somebody put there.
	maxPathName = 40
	maxPath     = 200
)

// pathAt names the member whose value begins at, or contains, the byte at
// offset. Decoders do not track where they are; the few that fail walk the
// input once more. It is well-formed up to offset.
//
// With a missing member, offset is in the object that lacks it.
func pathAt(input []byte, offset int, missing string) string {
	var levels [maxDepth + 1]pathLevel
	depth := 0 // of the innermost open object or array; 0 is outside of all
	for i := 0; i < offset; {
		level := &levels[depth]
		switch c := input[i]; c {
		case '{', '[':
			if depth == maxDepth { // no decoder gets here
				return joinPath(levels[1:])
			}
			depth++
			levels[depth] = pathLevel{array: c == '['}
			i++
		case '}', ']':
			depth--
			i++
		case ',':
			level.name = nil
			level.index++
			i++
		case '"':
			text := scanText(input, i)
			if text.problem != noProblem || text.end > offset {
				return joinPath(levels[1 : depth+1])
			}
			if !level.array && level.name == nil {
				level.name = text.decode(input, nil)
			}
			i = text.end
		default:
			i++
		}
	}
	if missing != "" {
		levels[depth].name = []byte(missing)
	}
	return joinPath(levels[1 : depth+1])
}

// pathLevel is where in an object or array the walk is.
type pathLevel struct {
	array bool
	index int
	name  []byte // of the member of an object; nil in front of its name
}

func joinPath(levels []pathLevel) string {
	var path []byte
	for i := range levels {
		switch level := &levels[i]; {
		case len(path) > maxPath:
			return string(append(path, "..."...))
		case level.array:
			path = append(path, '[')
			path = strconv.AppendInt(path, int64(level.index), 10)
			path = append(path, ']')
		case level.name != nil:
			path = appendPathName(path, level.name)
		}
	}
	return string(path)
}

// appendPathName appends .name, or ["name"] for one that is no plain word.
func appendPathName(path, name []byte) []byte {
	cut := len(name) > maxPathName
	if cut {
		name = name[:maxPathName]
	}
	plain := !cut && len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
	if !plain {
		path = append(path, '[')
		path = strconv.AppendQuoteToASCII(path, string(name))
		if cut {
			path = append(path, "..."...)
		}
		return append(path, ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}
