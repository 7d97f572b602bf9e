package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// load reads what is in the tables and in the log beside them, and whether both
// belong together. It changes nothing.
func (j *Journal) load() error {
	tx, err := j.db.Begin(false)
	if err != nil {
		return err
	}
	defer rollback(tx)
	if j.now.state, err = readState(tx); err != nil {
		return err
	}
	j.now.rows = new(layer)
	log, err := readLog(j.path)
	if err != nil {
		return err
	}
	if j.now.state.format == formatWhole {
		return wantVoid(log, j.now.state.totals)
	}
	if len(log) == 0 {
		return fmt.Errorf("%w: %s is not there. The two belong together, and orders may be pending in it", errLog, logPath(j.path))
	}
	id, err := logID(log)
	if err != nil {
		return err
	}
	if id != j.now.state.log {
		return fmt.Errorf("%w: it belongs to another file", errLog)
	}
	frames, err := readFrames(log, id, j.now.state.generation)
	if err != nil {
		return err
	}
	c := newChange(&snapshot{tx: tx}, j.now.state.totals)
	if err := c.replay(frames); err != nil {
		return err
	}
	j.now.rows, j.now.state.totals = c.top(), c.totals
	return nil
}

// readLog returns nothing if there is no log, or an empty file.
func readLog(path string) ([]byte, error) {
	log, err := os.ReadFile(logPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return log, err
}

// replay does again what the frames say. That the totals come out as they were
// shows that each is there, and that the tables are those it was written for.
func (c *change) replay(frames []frame) error {
	for _, f := range frames {
		want, err := decodeBatch(f.payload, func(t table, key, value []byte) {
			if len(value) > 0 {
				c.put(t, key, value)
			} else {
				c.remove(t, key)
			}
		})
		if err != nil {
			return fmt.Errorf("frame %d of the log beside it: %w", f.number, err)
		}
		c.begun, c.history = want.begun, want.history
		if c.totals != want {
			return fmt.Errorf("frame %d of the log beside it leads to %d rows (%x), and %d (%x) were written",
				f.number, c.rows, c.digest, want.rows, want.digest)
		}
	}
	return nil
}

// wantVoid looks at a log beside a file that needs none. A process that ends while
// it opens or closes the journal leaves one that has nothing more to say; any other
// is of some other time, and what is pending in it may have been placed.
func wantVoid(log []byte, now totals) error {
	if len(log) == 0 {
		return nil
	}
	id, err := logID(log)
	if err != nil {
		return err
	}
	last, ok := frameAt(log, id, framesAt)
	if !ok {
		return nil
	}
	frames, err := readFrames(log, id, last.generation)
	if err != nil {
		return err
	}
	ends, err := decodeBatch(frames[len(frames)-1].payload, func(table, []byte, []byte) {})
	if err == nil && ends != now {
		err = fmt.Errorf("%w: it is of another time than the file", errLog)
	}
	return err
}
