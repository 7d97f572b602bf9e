package journal

import "go.etcd.io/bbolt"

// How much of the log is used before it goes to the tables: at the first occasion
// when nobody waits, and in any case. A write that comes meanwhile waits for it, so
// this bounds how long, and also how much memory the rows of the log take.
const (
	logIdle = 64 << 10
	logFull = 128 << 10
)

// published is what readers see, besides the file: the rows of the log. It is
// never changed, only replaced.
type published struct {
	rows  *layer
	state state
}

// tidy is what there is to do after a batch has been answered for.
func (j *Journal) tidy() error {
	if err := j.log.note(); err != nil {
		return err
	}
	if used := j.log.used(); used < logIdle || used < logFull && !j.idle() {
		return nil
	}
	next := j.now.state
	next.generation++
	if err := j.checkpoint(next); err != nil {
		return err
	}
	j.log.restart(next.generation)
	return nil
}

// checkpoint writes the rows of the log to the tables in one commit, which also
// says what goes on from there. Until it is durable the log stays as it is, and
// from then on its frames are void.
func (j *Journal) checkpoint(next state) error {
	rows := j.now.rows
	tx, err := j.db.Begin(true)
	if err != nil {
		return err
	}
	defer rollback(tx)
	for t := range rows {
		bucket := tx.Bucket(table(t).name())
		for _, row := range rows[t] {
			if len(row.value) > 0 {
				err = bucket.Put(row.key, row.value)
			} else {
				err = bucket.Delete(row.key)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := writeState(tx, next); err != nil {
		return err
	}
	if err := j.disk.commit(tx); err != nil {
		return err
	}
	j.publish(published{rows: new(layer), state: next})
	return nil
}

// rollback ends a transaction, unless it was committed.
func rollback(tx *bbolt.Tx) {
	if tx.DB() != nil {
		_ = tx.Rollback()
	}
}

func (j *Journal) publish(now published) {
	j.look.Lock()
	defer j.look.Unlock()
	j.now = now
}

// snapshot is what readers see at this moment. Between a checkpoint's commit and
// its publication the rows of the log lie over the same rows in the tables, which
// changes nothing.
func (j *Journal) snapshot() (*snapshot, state, error) {
	j.look.Lock()
	defer j.look.Unlock()
	tx, err := j.db.Begin(false)
	if err != nil {
		return nil, state{}, err
	}
	return &snapshot{tx: tx, layers: []*layer{j.now.rows}}, j.now.state, nil
}
