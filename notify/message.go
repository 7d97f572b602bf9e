package notify

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tradingapi/trading-go"
)

// Kind is what a [Message] is about.
type Kind string

// The kinds.
const (
	Halt    Kind = "halt"    // entries are refused, or are taken again
	Floor   Kind = "floor"   // an account is near its loss floor, or its protection changed its state
	Pending Kind = "pending" // a write's outcome has not been known for a minute, or is known now
	Flatten Kind = "flatten" // an account was flattened, or could not be
)

// Message is what is posted.
type Message struct {
	At      time.Time         // when it was noticed, by this machine's clock
	Kind    Kind              // what it is about
	Account trading.AccountID // the live account; empty where there is none
	Text    string            // one line for a person
	// Dropped counts the messages right before this one that were not delivered: the queue
	// had no room for them, or they were given up. It is set by the Notifier.
	Dropped int
}

// mostText bounds a text, in bytes: every service takes it, what stands around it included.
const mostText = 1500

var keys = regexp.MustCompile(`pk_(test|live)_[^\s"',;:)\]}]+`)

// clean makes a text one line without an API key.
func clean(text string) string {
	text = keys.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "pk_${1}_…")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) <= mostText {
		return text
	}
	cut := mostText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
