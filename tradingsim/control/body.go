package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// maxBody bounds a request.
const maxBody = 64 << 10

// decode reads the body of a request: one JSON object, in UTF-8, without members that
// nobody knows, and none twice.
func decode[T any](w http.ResponseWriter, r *http.Request) (body T, err error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return body, problem{http.StatusUnsupportedMediaType, "unsupported_media_type", "the Content-Type must be application/json"}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headerTimeout))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return body, problem{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is longer than %d bytes", maxBody)}
	case err != nil:
		return body, badRequest("the body could not be read")
	}
	return parse[T](text)
}

func parse[T any](text []byte) (body T, err error) {
	if !utf8.Valid(text) {
		return body, badRequest("the body is not UTF-8")
	}
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return body, badRequest("the body must be a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return body, badRequest("the body cannot be read: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return body, badRequest("something follows the JSON object")
	}
	return body, once(text)
}

// once refuses a member that an object has twice, in whatever case: nobody can say which is
// meant. The text is known to be JSON.
func once(text []byte) error {
	type object struct {
		names map[string]bool // nil for a list
		value bool            // what comes next is a value
	}
	var open []*object
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return nil // the end
		}
		var in *object
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if in != nil && in.names != nil {
			if in.value = !in.value; in.value {
				name := strings.ToLower(token.(string))
				if in.names[name] {
					return badRequest(fmt.Sprintf("%.40q comes twice", token))
				}
				in.names[name] = true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &object{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &object{})
		}
	}
}

var (
	plainNumber  = regexp.MustCompile(`^-?[0-9]{1,18}(\.[0-9]{1,18})?$`)
	plainSymbol  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,31}$`)
	onlyZeros    = regexp.MustCompile(`^-?[0.]+$`)
	printableKey = regexp.MustCompile(`^[[:graph:]]{1,64}$`)
)

// number judges an amount: plain decimal text, of a bounded length.
func number(field, text string) error {
	if !plainNumber.MatchString(text) {
		return badRequest(fmt.Sprintf("%s must be a plain number as text, such as \"64000.5\", and is %.40q", field, text))
	}
	return nil
}

// positive judges an amount that must be greater than 0.
func positive(field, text string) error {
	if err := number(field, text); err != nil {
		return err
	}
	if strings.HasPrefix(text, "-") || onlyZeros.MatchString(text) {
		return badRequest(fmt.Sprintf("%s must be greater than 0, and is %s", field, text))
	}
	return nil
}

// duration reads a time span such as "1m30s", greater than 0.
func duration(field, text string, longest time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, badRequest(fmt.Sprintf("%s must be a duration such as \"1m30s\", and is %.40q", field, text))
	}
	if d <= 0 || d > longest {
		return 0, badRequest(fmt.Sprintf("%s must be greater than 0 and at most %v, and is %v", field, longest, d))
	}
	return d, nil
}

// oneOf judges a word.
func oneOf(field, text string, words ...string) error {
	for _, word := range words {
		if text == word {
			return nil
		}
	}
	return badRequest(fmt.Sprintf("%s must be one of %s, and is %.40q", field, strings.Join(words, ", "), text))
}

// attempt does something to a simulation. The simulation panics over a mistake, which in
// a test is the test's; here it is the caller's.
func attempt(do func()) (err error) {
	defer func() {
		switch mistake := recover().(type) {
		case nil:
		case string:
			text, ok := strings.CutPrefix(mistake, "tradingsim: ")
			if !ok {
				panic(mistake)
			}
			err = badRequest(text)
		default:
			panic(mistake)
		}
	}()
	do()
	return nil
}
