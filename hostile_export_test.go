package trading

// NewConnectionPool shows the client's own connections to tests that give them a
// certificate to trust, or a proxy to go through.
var NewConnectionPool = newConnectionPool
