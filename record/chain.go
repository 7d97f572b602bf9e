package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// A line is
//
//	{"hash":"…","prev":"…","seq":7,"at":"…","event":"…",…}
//
// with, in front, the SHA-256 of everything from "prev" to the last brace as it
// stands there, and in prev that of the line before, which is 64 zeros in the first
// line of all. So a line is checked without a form of JSON that both sides would have
// to agree on.
const (
	format    = 1
	hashSize  = 2 * sha256.Size
	hashBegin = `{"hash":"`
	hashEnd   = `",`
	restAt    = len(hashBegin) + hashSize + len(hashEnd)
)

// noHash is prev in the first line of a chain.
const noHash = "0000000000000000000000000000000000000000000000000000000000000000"

// chained is an event with its place in the chain.
type chained struct {
	Prev string `json:"prev"`
	Event
}

// encoder writes lines. It keeps its buffer.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder
}

// line encodes an event, with the newline, and returns its hash. The bytes are good
// until the next line.
func (c *encoder) line(prev string, e *Event) (line []byte, hash string, err error) {
	if c.json == nil {
		c.json = json.NewEncoder(&c.buf)
		c.json.SetEscapeHTML(false)
	}
	c.buf.Reset()
	c.buf.WriteString(hashBegin + noHash + "\"") // room for the hash
	start := c.buf.Len()
	if err := c.json.Encode(chained{prev, *e}); err != nil {
		return nil, "", err
	}
	line = redact(c.buf.Bytes())
	line[start] = ',' // in place of the event's own brace
	sum := sha256.Sum256(line[restAt : len(line)-1])
	hex.Encode(line[len(hashBegin):], sum[:])
	return line, string(line[len(hashBegin) : len(hashBegin)+hashSize]), nil
}

var (
	errNotALine  = errors.New("it is no line of an audit")
	errLineHash  = errors.New("it is not what was written: its hash does not match")
	errLineEvent = errors.New("it matches its hash, but cannot be read")
)

// parseLine checks a line, without its newline, against its own hash, and reads it.
func parseLine(line []byte) (c chained, hash string, err error) {
	if len(line) <= restAt || string(line[:len(hashBegin)]) != hashBegin ||
		string(line[restAt-len(hashEnd):restAt]) != hashEnd {
		return chained{}, "", errNotALine
	}
	sum := sha256.Sum256(line[restAt:])
	hash = hex.EncodeToString(sum[:])
	if hash != string(line[len(hashBegin):len(hashBegin)+hashSize]) {
		return chained{}, "", errLineHash
	}
	if err := json.Unmarshal(line, &c); err != nil || len(c.Prev) != hashSize {
		return chained{}, "", errLineEvent
	}
	return c, hash, nil
}
