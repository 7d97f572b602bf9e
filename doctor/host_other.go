//go:build !linux

package doctor

import (
	"errors"
	"os"
	"time"
)

var errNotHere = errors.New("this system does not show it")

func placeOf(string) (place, error)              { return place{}, errNotHere }
func synchronised() (bool, error)                { return false, errNotHere }
func lockedBy(string) (pid int, known bool)      { return 0, false }
func ownedByUs(os.FileInfo) bool                 { return true }
func unitGrace(*Process) (time.Duration, string) { return 0, "" }
