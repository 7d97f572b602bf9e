package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// host is what is asked of this machine. Tests have one of their own.
type host struct {
	lookup       func(ctx context.Context, name string) ([]string, error)
	dial         func(ctx context.Context, secure bool, name, address string) (reached, error)
	place        func(folder string) (place, error)
	open         func(journal string) (io.Closer, error)
	sync         func(folder string, rounds int) ([]time.Duration, error)
	lockedBy     func(path string) (pid int, known bool)
	synchronised func() (bool, error)
	since        func(time.Time) (wall, mono time.Duration)
	stopGrace    func(*Process) (grace time.Duration, from string)
}

// place is what a folder is on.
type place struct {
	kind    string // the file system
	lasting string // why what is written there does not last or sync; empty if it does
	free    uint64 // bytes
}

// Why what is written to a place does not last or sync.
const (
	inMemory  = "it is in memory, and gone after a restart"
	onNetwork = "it is on a network, where locks and syncs can be in name only"
	ownLayer  = "it is the container's own layer, and gone with the container"
)

func thisHost() *host {
	return &host{
		lookup: func(ctx context.Context, name string) ([]string, error) {
			return net.DefaultResolver.LookupHost(ctx, name)
		},
		dial: dial, place: placeOf, open: openJournal, sync: syncFile, lockedBy: lockedBy, synchronised: synchronised, since: since,
		stopGrace: unitGrace,
	}
}

// openJournal opens a journal that nobody has open.
func openJournal(path string) (io.Closer, error) {
	return journal.Open(path, journal.WithLockTimeout(0))
}

// dial connects and closes, within a second: it sends nothing but the greeting of TLS.
func dial(ctx context.Context, secure bool, name, address string) (reached, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return reached{}, err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if !secure {
		return reached{}, nil
	}
	greeted := tls.Client(conn, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12})
	if err := greeted.HandshakeContext(ctx); err != nil {
		return reached{}, err
	}
	leaf := greeted.ConnectionState().PeerCertificates[0]
	issuer := leaf.Issuer.CommonName
	if len(leaf.Issuer.Organization) > 0 {
		issuer = leaf.Issuer.Organization[0]
	}
	return reached{secure: true, issuer: issuer, ends: leaf.NotAfter}, nil
}

// syncFile times syncs of a file of its own.
func syncFile(folder string, rounds int) (took []time.Duration, err error) {
	f, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 512)
	for range rounds {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// since is how far each clock moved.
func since(started time.Time) (wall, mono time.Duration) {
	now := time.Now()
	return now.Round(0).Sub(started.Round(0)), now.Sub(started)
}
