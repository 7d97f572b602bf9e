// Package commandline is what the commands of the client have in common: how they read
// their flags, and the status that they end with. The simulator's, which shares no code
// with the client, does the same by itself.
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// The exit statuses.
const (
	OK      = 0 // also after a request for help
	Failure = 1
	Usage   = 2 // the command line cannot be understood
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Misuse returns an error for which [Status] is [Usage].
func Misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Parse reads the flags. They print nothing themselves, or an error would come twice.
// After a request for help, which it writes to help, it returns [flag.ErrHelp].
func Parse(f *flag.FlagSet, args []string, help io.Writer, usage string) error {
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(help)
		fmt.Fprintln(help, "usage:", usage)
		f.PrintDefaults()
		return err
	case err != nil:
		return usageError{err}
	}
	return nil
}

// Arguments requires as many arguments behind the flags as there are names.
func Arguments(f *flag.FlagSet, names ...string) error {
	switch {
	case f.NArg() > len(names):
		return Misuse("unexpected argument %q", f.Arg(len(names)))
	case f.NArg() < len(names):
		return Misuse("%s is missing", names[f.NArg()])
	default:
		return nil
	}
}

// Status says what an error is to the operator, once, and returns the status to exit
// with.
func Status(command string, err error, complaints io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return OK
	case errors.As(err, new(usageError)):
		fmt.Fprintf(complaints, "%s: %v; -h lists the flags\n", command, err)
		return Usage
	default:
		fmt.Fprintf(complaints, "%s: %v\n", command, err)
		return Failure
	}
}
