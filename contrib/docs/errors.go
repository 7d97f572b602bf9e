package docs

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// ErrClosed is returned by calls after [Client.Close].
var ErrClosed = errors.New("the client is closed")

// ErrTooLarge is returned where the server's answers to one call exceed 1 MiB.
var ErrTooLarge = errors.New("the server's answer is larger than 1 MiB")

// ConfigError is a [Config] that [New] refuses.
type ConfigError struct {
	Field   string // of Config
	Problem string // the rule and the value
}

func (e *ConfigError) Error() string { return "docs: Config." + e.Field + ": " + e.Problem }

// ArgumentError is an argument of a call that is refused before anything is sent.
type ArgumentError struct {
	Argument string // "query" or "page"
	Problem  string
}

func (e *ArgumentError) Error() string { return "docs: " + e.Argument + ": " + e.Problem }

// RateLimitError is a call that the server's rate limit does not allow now.
type RateLimitError struct {
	RetryAfter time.Duration // from the moment of the error; at most an hour
}

func (e *RateLimitError) Error() string {
	return fmt.Sprintf("docs: rate limited: try again in %d s", int(math.Ceil(e.RetryAfter.Seconds())))
}

// StatusError is an HTTP status other than success. A redirect is one: none is followed.
type StatusError struct {
	Status   int
	Location string // of a redirect: the server's text, cleaned and cut
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("docs: the server answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Location != "" {
		text += " to " + quote(e.Location) + ", which is not followed"
	}
	return text
}

// ToolError is a refusal by the server: the page does not exist, for example.
type ToolError struct {
	Tool    string
	Message string // the server's text, cleaned and cut
}

func (e *ToolError) Error() string {
	return fmt.Sprintf("docs: %s refused: %s", e.Tool, quote(e.Message))
}

// AnswerError is an answer that cannot be read: it is no MCP, or of an unknown form.
type AnswerError struct {
	Tool    string
	Problem string // may hold the server's text, cleaned and cut
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("docs: %s: the server's answer cannot be read: %s", e.Tool, quote(e.Problem))
}

// callError is anything else, such as an end of time or of a connection.
type callError struct {
	tool string
	err  error
}

func (e *callError) Error() string { return "docs: " + e.tool + ": " + line(e.err.Error(), maxQuoted) }
func (e *callError) Unwrap() error { return e.err }
