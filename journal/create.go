package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
)

// Create makes a journal at path of what another store has, such as one in a database: all of it
// or, on an error, nothing. There must be no file at path, and its folder must exist. last is the
// Data of the other one's last record, if that was a Final one and nothing was pending ([Log.Quiet]);
// missing is what its [Gapper] reports.
func Create(path string, last []byte, missing bool, histories iter.Seq2[History, error]) (err error) {
	if err := checkPath(path); err != nil {
		return err
	}
	unlock, err := lock(path, 0, func() error { return nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	state, err := stateOf(histories)
	if err != nil {
		return err
	}
	if state.last = last; len(last) > lastMost {
		state.last = nil
	}
	l := &Log{path: path, disk: osDisk{}, sizes: usual, state: state}
	if f, err := l.disk.open(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = errors.Join(fs.ErrExist, f.Close())
		}
		return fmt.Errorf("journal: create %q: %w", path, err)
	}
	if err := l.clear(); err != nil {
		return fmt.Errorf("journal: create %q: %w", path, err)
	}
	if err := l.SetGap(missing); err != nil {
		return err
	}
	if err := l.rewrite(); err != nil {
		return fmt.Errorf("journal: create %q: %w", path, err)
	}
	return l.file.Close()
}

// stateOf is what histories say.
func stateOf(histories iter.Seq2[History, error]) (*state, error) {
	s := newState()
	for h, err := range histories {
		if err != nil {
			return nil, err
		}
		for i, data := range h.Records {
			r := Record{Intent: h.Intent, Name: h.Name, Final: h.Final && i == len(h.Records)-1, Data: data}
			if size := (&entry{History: h}).recordSize(data); size > frameMost {
				return nil, fmt.Errorf("%w: a record of intent %q takes %d bytes, and may take %d", ErrInvalid, h.Intent, size, frameMost)
			}
			if err := s.check([]Record{r}); err != nil {
				return nil, err
			}
			s.apply(r)
		}
	}
	return s, nil
}
