package wire

// maxDepth is how many objects and arrays may be open at once.
const maxDepth = 64

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipValue checks the JSON value that begins at data[i], inside of depth open
// objects and arrays, and returns where it ends; with a problem, where that is.
func skipValue(data []byte, i, depth int) (end int, problem Problem) {
	if i < len(data) && data[i] != '{' && data[i] != '[' {
		return skipScalar(data, i)
	}
	switch {
	case i >= len(data):
		return i, Truncated
	case depth == maxDepth:
		return i, TooDeep
	}
	object, closing := data[i] == '{', data[i]+2 // '{'+2 is '}', '['+2 is ']'
	if i = skipSpace(data, i+1); i < len(data) && data[i] == closing {
		return i + 1, noProblem
	}
	for {
		if object {
			if _, i, problem = scanName(data, i); problem != noProblem {
				return i, problem
			}
		}
		if i, problem = skipValue(data, i, depth+1); problem != noProblem {
			return i, problem
		}
		switch i = skipSpace(data, i); {
		case i >= len(data):
			return i, Truncated
		case data[i] == closing:
			return i + 1, noProblem
		case data[i] != ',':
			return i, Syntax
		}
		i = skipSpace(data, i+1)
	}
}

// scanName finds the name of a member and where its value begins.
func scanName(data []byte, i int) (name text, value int, problem Problem) {
	if i >= len(data) {
		return text{}, i, Truncated
	}
	if data[i] != '"' {
		return text{}, i, Syntax
	}
	name = scanText(data, i)
	if name.problem != noProblem {
		return name, name.end, name.problem
	}
	i = skipSpace(data, name.end)
	if i >= len(data) {
		return name, i, Truncated
	}
	if data[i] != ':' {
		return name, i, Syntax
	}
	return name, skipSpace(data, i+1), noProblem
}

// skipScalar skips anything but an object or an array.
func skipScalar(data []byte, i int) (end int, problem Problem) {
	if i >= len(data) {
		return i, Truncated
	}
	switch c := data[i]; {
	case c == '"':
		t := scanText(data, i)
		return t.end, t.problem
	case c == '-' || c-'0' <= 9:
		n, ok := scanNumber(data[i:])
		if !ok {
			return i, NotANumber
		}
		return i + n.end, noProblem
	case c == 't':
		return skipLiteral(data, i, "true")
	case c == 'f':
		return skipLiteral(data, i, "false")
	case c == 'n':
		return skipLiteral(data, i, "null")
	}
	return i, Syntax
}

func skipLiteral(data []byte, i int, literal string) (end int, problem Problem) {
	if !hasLiteral(data, i, literal) {
		return i, Syntax
	}
	return i + len(literal), noProblem
}

func hasLiteral(data []byte, i int, literal string) bool {
	return len(data)-i >= len(literal) && string(data[i:i+len(literal)]) == literal
}
