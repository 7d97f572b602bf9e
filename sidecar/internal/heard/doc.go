// Package heard serves programs of the same machine, and finds out whether the answer to a request
// was heard by the one who asked.
//
// The end of a request's context does not show that: a client that times out a moment after the
// answer is not seen, and one that has closed its half of the connection is taken for gone. What
// shows it:
//
//   - The connection delivers a further request after the answer's last byte. This holds for every
//     peer, on every system.
//   - The peer is on this machine, its end of the connection is still open or was closed with
//     nothing unread, and nothing of the answer waits to be delivered. The kernel knows this; on
//     Linux it is asked. On a TCP connection it counts as delivered what the peer's kernel has
//     taken, so a peer that lets a call lie and keeps its connection open counts as one that hears.
//
// A proxy between takes what the one behind it may never hear: its connections are distant, and
// are believed by a further request alone.
//
// A server that uses this package speaks HTTP/1.1 alone, and hijacks no connection:
//
//	server := &http.Server{Handler: h, ConnContext: heard.Context, ConnState: heard.State}
package heard
