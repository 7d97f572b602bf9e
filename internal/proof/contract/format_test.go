package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var format = flag.Bool("format", false, "write the contract in its standard form")

// The contract is written by hand, in one form, so that a change shows as the
// change that it is: an object or a list stands on one line if it fits, and
// otherwise each element has its own. The order of members is the writer's.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile(contractFile)
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	root, err := read(dec)
	require.NoError(t, err)
	var b strings.Builder
	root.write(&b, 0, 0)
	b.WriteByte('\n')
	want := b.String()
	if want == string(text) {
		return
	}
	if *format {
		require.NoError(t, os.WriteFile(contractFile, []byte(want), 0o644))
		return
	}
	have := strings.Split(string(text), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(have) || have[i] != line {
			t.Fatalf("line %d should be %q; go test -run TestFormat -format writes the file so", i+1, line)
		}
	}
	t.Fatalf("there are lines after the end")
}

// pageWidth is how long a line may be that holds more than one value.
const pageWidth = 117

// node is a JSON value whose members keep their order.
type node struct {
	open, close string   // of an object or a list; empty for a scalar
	text        string   // of a scalar
	names       []string // of an object
	elements    []*node
}

// read reads one value.
func read(dec *json.Decoder) (*node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return &node{text: scalar(token)}, nil
	}
	n := &node{open: "[", close: "]"}
	if delim == '{' {
		n.open, n.close = "{", "}"
	}
	for dec.More() {
		if delim == '{' {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, scalar(name))
		}
		element, err := read(dec)
		if err != nil {
			return nil, err
		}
		n.elements = append(n.elements, element)
	}
	_, err = dec.Token()
	return n, err
}

func scalar(token json.Token) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(token); err != nil {
		panic(err) // a token that was read can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// line is the value on one line.
func (n *node) line() string {
	if n.open == "" {
		return n.text
	}
	parts := make([]string, len(n.elements))
	for i, element := range n.elements {
		if parts[i] = element.line(); n.names != nil {
			parts[i] = n.names[i] + ": " + parts[i]
		}
	}
	inside := strings.Join(parts, ", ")
	if n.names != nil {
		inside = " " + inside + " "
	}
	return n.open + inside + n.close
}

// write writes the value at an indentation, after as many columns on its line.
func (n *node) write(b *strings.Builder, indent, columns int) {
	line := n.line()
	width := indent + columns + utf8.RuneCountInString(line)
	if n.open == "" || len(n.elements) == 0 || indent > 2 && width < pageWidth {
		b.WriteString(line)
		return
	}
	b.WriteString(n.open)
	for i, element := range n.elements {
		if i > 0 {
			b.WriteByte(',')
		}
		name := ""
		if n.names != nil {
			name = n.names[i] + ": "
		}
		b.WriteString("\n" + strings.Repeat(" ", indent+2) + name)
		element.write(b, indent+2, utf8.RuneCountInString(name))
	}
	b.WriteString("\n" + strings.Repeat(" ", indent) + n.close)
}
