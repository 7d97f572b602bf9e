package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Format writes a message as the JSON that a receiver takes.
type Format func(Message) ([]byte, error)

// Generic is for a receiver of your own: at in RFC 3339, kind, account, text, dropped.
func Generic(m Message) ([]byte, error) {
	return json.Marshal(struct {
		At      string `json:"at"`
		Kind    Kind   `json:"kind"`
		Account string `json:"account,omitempty"`
		Text    string `json:"text"`
		Dropped int    `json:"dropped,omitempty"`
	}{m.At.UTC().Format(time.RFC3339Nano), m.Kind, string(m.Account), m.Text, m.Dropped})
}

// escapeSlack keeps a text from being markup: <!channel> would call everybody.
var escapeSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Slack is for an incoming webhook of Slack, whose URL begins with
// https://hooks.slack.com/services/.
func Slack(m Message) ([]byte, error) {
	return json.Marshal(map[string]string{"text": escapeSlack.Replace(line(m))})
}

// Discord is for a webhook of a Discord channel, whose URL begins with
// https://discord.com/api/webhooks/. It mentions nobody.
func Discord(m Message) ([]byte, error) {
	return json.Marshal(map[string]any{"content": line(m), "allowed_mentions": map[string]any{"parse": []string{}}})
}

// Telegram is for the method sendMessage of a Telegram bot, whose URL is
// https://api.telegram.org/bot<token>/sendMessage. The chat is its number, or the @name of
// a channel.
func Telegram(chat string) Format {
	return func(m Message) ([]byte, error) {
		return json.Marshal(map[string]string{"chat_id": chat, "text": line(m)})
	}
}

// line is a message for a person.
func line(m Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] ", m.Kind)
	if m.Account != "" {
		fmt.Fprintf(&b, "%s: ", clean(string(m.Account)))
	}
	b.WriteString(m.Text)
	fmt.Fprintf(&b, " (%s)", m.At.UTC().Format(time.DateTime+" UTC"))
	if m.Dropped > 0 {
		fmt.Fprintf(&b, "; %d messages before it were dropped", m.Dropped)
	}
	return b.String()
}
