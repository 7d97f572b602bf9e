package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

// The prefixes of API keys.
const (
	sandboxPrefix = "pk_test_"
	livePrefix    = "pk_live_"
)

func looksLikeKey(arg string) bool {
	return strings.Contains(arg, sandboxPrefix) || strings.Contains(arg, livePrefix)
}

// keys are the API keys that were found.
type keys struct{ sandbox, live string }

// readKeys takes the keys from a file, one a line, with or without the name of its
// variable in front. Lines that begin with # are comments. No error repeats a line.
func readKeys(path string) (k keys, err error) {
	if err := checkPrivate(path); err != nil {
		return keys{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return keys{}, WithCode(Usage, err)
	}
	return parseKeys(path, string(text))
}

func parseKeys(path, text string) (k keys, err error) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok && (name == "TRADING_SANDBOX_KEY" || name == "TRADING_LIVE_KEY") {
			line = value
		}
		into := &k.sandbox
		switch {
		case strings.HasPrefix(line, livePrefix):
			into = &k.live
		case !strings.HasPrefix(line, sandboxPrefix):
			return keys{}, Misuse("%s, line %d: a key must begin with %s or %s", path, i+1, sandboxPrefix, livePrefix)
		}
		if *into != "" {
			return keys{}, Misuse("%s, line %d: there is a key of this environment already", path, i+1)
		}
		*into = line
	}
	if k == (keys{}) {
		return keys{}, Misuse("%s: there is no key in it", path)
	}
	return k, nil
}

// keyFile reads a file of keys again whenever it has changed.
type keyFile struct {
	path string

	mu   sync.Mutex
	seen os.FileInfo
	keys keys
}

// current returns the keys as they are in the file now. Where it cannot be read, the last ones
// stay: somebody may be about to write it.
func (f *keyFile) current() (keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err == nil && f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) && f.seen.Size() == info.Size() {
		return f.keys, nil
	}
	k, err := readKeys(f.path)
	switch {
	case err == nil:
		f.seen, f.keys = info, k
	case f.seen == nil:
		return keys{}, err
	}
	return f.keys, nil
}

// checkPrivate refuses a file that others can read.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return WithCode(Usage, err)
	case !info.Mode().IsRegular():
		return Misuse("%s: a key file must be a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return WithCode(Usage, fmt.Errorf("%s: a key file must be readable by its owner alone (0600), and it is %#o: chmod 600", path, info.Mode().Perm()))
	default:
		return nil
	}
}
