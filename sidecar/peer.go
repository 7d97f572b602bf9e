package sidecar

import (
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/sidecar/internal/heard"
)

// peer is the bot at the other end of a request's connection.
type peer interface {
	// age is how long ago the request reached this machine.
	age() time.Duration
	// old reports whether a request lay there before it was taken, and nobody may wait for it.
	old() bool
	// gone reports whether nobody waits any more, so that nothing more is sent for it.
	gone() bool
	// left reports whether the bot may have left: it sends nothing more.
	left() bool
	// writing notes that the whole answer is written now.
	writing() answered
}

// present is a bot in the same process, which hears whatever it is answered.
type present struct{}

func (present) age() time.Duration { return 0 }
func (present) old() bool          { return false }
func (present) gone() bool         { return false }
func (present) left() bool         { return false }
func (present) writing() answered  { return present{} }

// Heard implements [answered].
func (present) Heard() bool { return true }

// OnHeard implements [answered].
func (present) OnHeard(f func()) { f() }

// near is a bot on a connection of package heard.
type near struct {
	*heard.Conn
	answer *heard.Answer
}

// oldest is how long a request may have lain on a new connection, or on one whose bot sends nothing
// more: what is older came while this process did not run, and its bot may have given up.
const oldest = time.Second

func (n near) age() time.Duration { return n.Age() }
func (n near) old() bool          { return n.Age() > oldest && (n.First() || n.Present() != heard.Here) }
func (n near) left() bool         { return n.Present() != heard.Here }
func (n near) writing() answered  { n.answer.Writing(); return n.answer }

// gone takes a bot that has closed its half of the connection for one that has left, but not at
// once: there are programs that close their half alone and wait.
func (n near) gone() bool {
	there := n.Present()
	return there == heard.Gone || there == heard.Unsure && n.Ended() && n.Age() > oldest
}

// peerKey finds a peer in the context of a request.
type peerKey struct{}

// peerOf returns the peer of a request. It is asked once.
func peerOf(r *http.Request) peer {
	if p, ok := r.Context().Value(peerKey{}).(peer); ok {
		return p
	}
	if c := heard.From(r.Context()); c != nil {
		return near{c, c.Answer()}
	}
	return present{}
}
