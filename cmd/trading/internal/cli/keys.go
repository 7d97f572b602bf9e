package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go/internal/disk"
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

const mostKeys = 64 << 10 // bytes of a file

// readKeys takes the keys from a file that nobody but its owner can use, one a line, with or without
// the name of its variable in front. Lines that begin with # are comments. No error repeats a line.
// The info is that of what was read.
func readKeys(path string) (k keys, info fs.FileInfo, err error) {
	text, info, err := disk.Read(path, mostKeys, disk.NoAccess)
	if err != nil {
		return keys{}, nil, WithCode(Usage, fmt.Errorf("the key file cannot be used: %w", err))
	}
	k, err = parseKeys(path, string(text))
	return k, info, err
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
	seen fs.FileInfo
	keys keys
}

// current returns the keys as they are in the file now. Where it cannot be read, the last ones
// stay: somebody may be about to write it.
func (f *keyFile) current() (keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Lstat(f.path)
	if err == nil && f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) && f.seen.Size() == info.Size() {
		return f.keys, nil
	}
	k, info, err := readKeys(f.path)
	switch {
	case err == nil:
		f.seen, f.keys = info, k
	case f.seen == nil:
		return keys{}, err
	}
	return f.keys, nil
}
