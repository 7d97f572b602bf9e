//go:build !unix

package transport

func (r *reader) init(c *pooledConn) { r.conn = c }

func (r *reader) read(p []byte) (int, error) {
	n, err := r.conn.Conn.Read(p)
	r.conn.mu.Lock()
	r.conn.waiting = false
	r.conn.mu.Unlock()
	return n, err
}

func (*reader) unread() bool { return false }
