package disk

import (
	"errors"
	"path/filepath"
)

// UserFolder is where the programs of this user on this machine keep their state, whatever each has
// for itself. getenv looks up a variable of the environment.
func UserFolder(getenv func(name string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if state == "" {
		home := getenv("HOME")
		if home == "" {
			home = getenv("USERPROFILE") // of Windows
		}
		if home == "" {
			return "", errors.New("this user has no home folder, and XDG_STATE_HOME is not set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "trading"), nil
}
