package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Body is what was sent or answered. In a line it is JSON where it is a JSON object
// or array, without the white space between its parts, and a text otherwise: a page
// of a proxy, an answer that was cut short, a body too long to be kept whole. Bytes
// of such a text that are no UTF-8 are lost.
type Body []byte

// MarshalJSON returns the body as it stands in a line.
func (b Body) MarshalJSON() ([]byte, error) {
	if b.isJSON() {
		return b, nil
	}
	return quote(string(b))
}

// UnmarshalJSON reads the body out of a line.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*b = Body(text)
		return nil
	}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	// Else it would stand as a text in the next line.
	*b = bytes.ToValidUTF8(data, []byte(string(utf8.RuneError)))
	return nil
}

func (b Body) isJSON() bool {
	text := bytes.TrimLeft(b, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && utf8.Valid(text) && json.Valid(text)
}

// quote writes a text as JSON, and leaves what HTML would want escaped as it is.
func quote(text string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// cut bounds a body. The size is that of the whole, and 0 where nothing is missing.
func cut(body []byte, limit int) (kept Body, size int) {
	if len(body) <= limit {
		return body, 0
	}
	end := limit
	for end > 0 && end > limit-utf8.UTFMax && !utf8.RuneStart(body[end]) {
		end--
	}
	return body[:end], len(body)
}

// cutText bounds the text of an error.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
