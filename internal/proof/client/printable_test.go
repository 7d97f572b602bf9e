package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// nasty is what a terminal, a log or its reader would take for something else: a
// sequence that clears the screen, another line, text that reads backwards.
const nasty = "\x1b[2J\x00\r\nERROR: all is well\u202e\x9b"

// mostShown is how many bytes of a body an error or a log has.
const mostShown = 512

// ofARead is the error of a read whose connection failed with cause.
func ofARead(t *testing.T, cause error) error {
	t.Helper()
	broken := func(*http.Request) (*http.Response, error) { return nil, cause }
	client := rig.ScriptedClient(t, rig.NewScript(t, broken), trading.WithRetry(trading.Retry{Attempts: 1}))
	_, err := client.Sandbox.State(t.Context())
	require.ErrorIs(t, err, cause)
	return err
}

// Every error of the client prints as one line of bounded length, whatever came over
// the network.
func TestErrorsPrintOnOneLine(t *testing.T) {
	cause := errors.New("dial: " + nasty)
	long := strings.Repeat("€", 1<<20)
	for name, err := range map[string]error{
		"Error, code":     &trading.Error{Code: trading.Code(nasty), Message: "no", Status: 400},
		"Error, message":  &trading.Error{Code: trading.CodeBadSize, Message: nasty, Status: 400},
		"Error, local":    &trading.Error{Code: trading.CodeBadSize, Message: nasty, Local: true},
		"Error, long":     &trading.Error{Code: trading.Code(long), Message: long, Status: 400},
		"WriteError":      &trading.WriteError{Operation: trading.OpOrder, Symbol: nasty, Err: cause},
		"WriteError, two": &trading.WriteError{Operation: trading.OpOrder, Err: errors.Join(cause, context.Canceled)},
		"GuardError":      &trading.GuardError{Kind: trading.ErrGuard, Reason: nasty, Err: cause},
		"GatewayError":    &trading.GatewayError{Reason: "not JSON", Snippet: nasty + long},
		"RedirectError":   &trading.RedirectError{Location: nasty + long},
		"DecodeError":     &trading.DecodeError{Err: cause},
		"TransportError":  &trading.TransportError{Err: cause, Written: true},
		"not sent":        &trading.TransportError{Err: errors.New(long)},
		"a read's":        ofARead(t, cause),
	} {
		t.Run(name, func(t *testing.T) {
			text := err.Error()
			assert.NotEmpty(t, text)
			assert.Less(t, len(text), 6<<10)
			assert.True(t, utf8.ValidString(text))
			for _, c := range []string{"\x1b", "\x00", "\r", "\n", "\u202e"} {
				assert.NotContains(t, text, c)
			}
		})
	}
	plain := &trading.Error{Code: trading.CodeBadSize, Message: `the size "€" is no number`, Status: 400}
	assert.Equal(t, `bad_size: the size "€" is no number (400)`, plain.Error(), "what prints is not quoted")
	assert.Equal(t, `bad_size: "a\nb" (400)`, (&trading.Error{Code: trading.CodeBadSize, Message: "a\nb", Status: 400}).Error())
}

// What the service put into a refusal reaches the caller as it came, and a log as
// text.
func TestExtraAndBodyPrintAsText(t *testing.T) {
	const body = `{"error":"bad_size","message":"no","hint":"\u001b[2J","limit":{"min":1}}`
	_, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(400, body))).Sandbox.State(context.Background())
	var refusal *trading.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, `{"hint":"\u001b[2J","limit":{"min":1}}`, refusal.Extra.String())
	assert.Equal(t, body, refusal.Meta.Body.String())

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "extra", refusal.Extra, "body", refusal.Meta.Body)
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	assert.Equal(t, refusal.Extra.String(), line["extra"])
	assert.Equal(t, body, line["body"])
	assert.Contains(t, fmt.Sprintf("%v", refusal.Meta), body, "as part of what prints")
	assert.Contains(t, fmt.Sprintf("%+v", trading.Position{Extra: trading.Extra{"a": json.RawMessage("1")}}), `{"a":1}`)

	for name, text := range map[string]string{
		"a page":    "<html>\n" + nasty,
		"a long":    strings.Repeat("€", 1<<20),
		"nearly":    strings.Repeat("x", mostShown) + "€",
		"not UTF-8": "\xff\xfe",
	} {
		for _, printed := range []string{trading.Body(text).String(), trading.Extra{text: json.RawMessage(text)}.String()} {
			assert.Less(t, len(printed), 4*mostShown+64, name)
			assert.True(t, utf8.ValidString(printed), name)
			assert.NotContains(t, printed, "\n", name)
			assert.NotContains(t, printed, "\x1b", name)
		}
	}
	assert.Equal(t, strings.Repeat("x", mostShown)+"… (515 bytes)", trading.Body(strings.Repeat("x", mostShown)+"€").String())
	assert.Equal(t, "", trading.Body(nil).String())
	assert.Equal(t, "{}", trading.Extra(nil).String())
}
