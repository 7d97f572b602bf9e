package commandline_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/commandline"
)

func TestStatus(t *testing.T) {
	for name, row := range map[string]struct {
		args       []string
		err        error
		status     int
		help, says string
	}{
		"right":            {[]string{"-n", "2", "file"}, nil, 0, "", ""},
		"help":             {[]string{"-h"}, nil, 0, "usage: it [flags] FILE\n  -n number\n    \ta number\n", ""},
		"failure":          {[]string{"file"}, errors.New("no such file"), 1, "", "it: no such file\n"},
		"no such flag":     {[]string{"-x", "file"}, nil, 2, "", "it: flag provided but not defined: -x; -h lists the flags\n"},
		"a wrong value":    {[]string{"-n", "two", "file"}, nil, 2, "", "it: invalid value \"two\" for flag -n: parse error; -h lists the flags\n"},
		"nothing":          {nil, nil, 2, "", "it: FILE is missing; -h lists the flags\n"},
		"a stray argument": {[]string{"file", "-n", "2"}, nil, 2, "", "it: unexpected argument \"-n\"; -h lists the flags\n"},
		"misuse, wrapped":  {[]string{"file"}, fmt.Errorf("it: %w", commandline.Misuse("not %d", 3)), 2, "", "it: it: not 3; -h lists the flags\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var help, complaints strings.Builder
			f := flag.NewFlagSet("it", flag.ContinueOnError)
			f.Int("n", 0, "a `number`")
			err := commandline.Parse(f, row.args, &help, "it [flags] FILE")
			if err == nil {
				err = commandline.Arguments(f, "FILE")
			}
			if err == nil {
				err = row.err
			}
			require.Equal(t, row.status, commandline.Status("it", err, &complaints))
			assert.Equal(t, row.help, help.String())
			assert.Equal(t, row.says, complaints.String())
		})
	}
}
