package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
)

// logPath is where the log of a journal is.
func logPath(path string) string { return path + "-wal" }

// log is the file that writes go to first: one write and one sync each. What is in
// it goes to the tables now and then, all at once.
type log struct {
	disk       *disk
	file       *os.File
	id         uint64
	generation uint64 // of the frames that are written now
	count      uint64 // how many there are
	noted      uint64 // of how many there is a note
	end        int64  // where the next one begins
	buffer     []byte
}

// makeLog puts an empty log in the place of whatever is there. It is complete
// before it has its name.
func makeLog(d *disk, path string) (*log, error) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // which never fails
	l := &log{disk: d, id: binary.BigEndian.Uint64(id[:])}
	l.restart(1)
	fresh := path + ".new" // nobody else makes one: the tables are locked
	file, err := d.open(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	// Zeros are written, not left out: a sync is slower where a file system has to
	// note that a part of a file is written for the first time.
	image := make([]byte, logRoom)
	copy(image, encodeHead(l.id))
	err = d.write(file, image, 0)
	if err == nil {
		err = d.sync(file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if err := d.rename(fresh, path); err != nil {
		return nil, err
	}
	if err := d.names(filepath.Dir(path)); err != nil {
		return nil, err
	}
	l.file, err = d.open(path, os.O_RDWR, 0)
	return l, err
}

// append makes a batch durable. After an error nobody knows whether it is.
func (l *log) append(rows *layer, now totals) error {
	payload := encodeBatch(nil, rows, now)
	l.buffer = appendFrame(l.buffer[:0], l.id, l.generation, l.count+1, l.end, payload)
	if err := l.disk.write(l.file, l.buffer, l.end); err != nil {
		return err
	}
	if err := l.disk.sync(l.file); err != nil {
		return err
	}
	l.end += int64(len(l.buffer))
	l.count++
	return nil
}

// note writes down how many frames have been synced, for the next sync to take
// along: whoever finds fewer knows that some are lost.
func (l *log) note() error {
	if l.noted == l.count {
		return nil
	}
	l.noted = l.count
	return l.disk.write(l.file, encodeNote(l.id, l.generation, l.count), noteAt)
}

// used is how many bytes the frames take.
func (l *log) used() int64 { return l.end - framesAt }

// restart begins a generation, once the tables hold all of those before it: it is
// written over them.
func (l *log) restart(generation uint64) {
	l.generation, l.count, l.noted, l.end = generation, 0, 0, framesAt
	if cap(l.buffer) > logRoom {
		l.buffer = nil
	}
}
