package cli

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A shell takes each text back as it was.
func TestWord(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for text, want := range map[string]string{
		"bot.journal":                          "bot.journal",
		"/var/lib/bot@1/a+b,c":                 "/var/lib/bot@1/a+b,c",
		"größe":                                "größe",
		"":                                     "''",
		"my dir/own.journal":                   "'my dir/own.journal'",
		"~/bot.journal":                        "'~/bot.journal'",
		"it's":                                 `'it'\''s'`,
		`C:\bots`:                              `'C:\bots'`,
		"postgres://db/x?sslmode=disable&a=$b": "'postgres://db/x?sslmode=disable&a=$b'",
		"red \x1b[31m it's\n\"\\":              `$'red \x1b[31m it\'s\n\"\\'`,
		"no text \xff":                         `$'no text \xff'`,
	} {
		assert.Equal(t, want, Word(text))
		back, err := exec.CommandContext(t.Context(), shell, "-c", `printf %s `+Word(text)).Output()
		require.NoError(t, err)
		assert.Equal(t, text, string(back))
	}
}
