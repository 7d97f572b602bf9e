package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The path leads into a network namespace, in which another process serves, and drops the packets of
// the connections that stand.
const (
	pathHere, pathThere = "10.213.77.1", "10.213.77.2"
	certificateFile     = "certificate.pem"
	keyFile             = "key.pem"
)

// overDropping are the rows of a path that drops packets, or why there are none.
func overDropping(ctx context.Context, s settings, n int) (rows []wait, stop func(), left string) {
	name := fmt.Sprintf("bench%d", os.Getpid())
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return nil, func() {}, err.Error()
	}
	stop = func() {
		clean := context.WithoutCancel(ctx)
		_ = exec.CommandContext(clean, "ip", "link", "del", name).Run() // connections that were dropped keep the namespace for minutes
		_ = exec.CommandContext(clean, "ip", "netns", "del", name).Run()
		_ = os.RemoveAll(dir)
	}
	err = writeCertificate(dir)
	for _, line := range []string{
		"ip netns add " + name,
		"ip link add " + name + " type veth peer name eth0 netns " + name,
		"ip addr add " + pathHere + "/30 dev " + name,
		"ip link set " + name + " up",
		"ip netns exec " + name + " ip addr add " + pathThere + "/30 dev eth0",
		"ip netns exec " + name + " ip link set eth0 up",
		"ip netns exec " + name + " iptables -L -n",
	} {
		if err == nil {
			err = command(ctx, line)
		}
	}
	if err != nil {
		return nil, stop, err.Error()
	}
	// The client's own connections trust what the system trusts, which is read once.
	if err := os.Setenv("SSL_CERT_FILE", filepath.Join(dir, certificateFile)); err != nil {
		return nil, stop, err.Error()
	}
	for _, scheme := range []string{"http", "https"} {
		protocol := map[string]string{"http": "HTTP/1.1", "https": "HTTP/2"}[scheme]
		for _, w := range bothWrites {
			rows = append(rows, wait{w.what + " over a path that drops packets, " + protocol, n, func(ctx context.Context, n int) (waited, error) {
				return dropping(ctx, name, dir, scheme, n, w.do)
			}})
		}
	}
	return rows, stop, ""
}

func command(ctx context.Context, line string) error {
	words := strings.Fields(line)
	if text, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, strings.TrimSpace(string(text)))
	}
	return nil
}

// dropping has n clients write whose connections into the namespace are dropped.
func dropping(ctx context.Context, namespace, dir, scheme string, n int, do func(context.Context, *trading.Client, int) error) (waited, error) {
	path, err := os.Executable()
	if err != nil {
		return waited{}, err
	}
	child := exec.CommandContext(ctx, "ip", "netns", "exec", namespace, path, "-child", "path", "-service", scheme, "-dir", dir, "-rounds", fmt.Sprint(n))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return waited{}, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return waited{}, err
	}
	if err := child.Start(); err != nil {
		return waited{}, err
	}
	defer func() {
		_ = in.Close()
		_ = child.Wait()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return waited{}, fmt.Errorf("the service in the namespace did not start: %w", lines.Err())
	}
	base, key, _ := strings.Cut(lines.Text(), " ")
	return writeEach(ctx, n, key, base, do, func() error {
		if _, err := io.WriteString(in, "drop\n"); err != nil {
			return err
		}
		if !lines.Scan() || lines.Text() != "dropped" {
			return fmt.Errorf("the path was not dropped: %q", lines.Text())
		}
		return nil
	})
}

// servePath serves in a namespace, and drops the connections that stand when it is asked to.
func servePath(ctx context.Context, in io.Reader, out io.Writer, s settings) error {
	sim := manyAccounts(s.rounds)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", pathThere+":0")
	if err != nil {
		return err
	}
	server, ports := pathServer(sim)
	go func() {
		if s.service == "https" {
			_ = server.ServeTLS(listener, filepath.Join(s.dir, certificateFile), filepath.Join(s.dir, keyFile))
			return
		}
		_ = server.Serve(listener)
	}()
	fmt.Fprintf(out, "%s://%s/v1 %s\n", s.service, listener.Addr(), sim.LiveKey())
	asked := bufio.NewScanner(in)
	for asked.Scan() {
		for _, port := range ports() {
			for _, rule := range []string{"INPUT -p tcp --sport ", "OUTPUT -p tcp --dport "} {
				if err := command(ctx, "iptables -A "+rule+port+" -j DROP"); err != nil {
					return err
				}
			}
		}
		fmt.Fprintln(out, "dropped")
	}
	return server.Close()
}

// pathServer knows the ports at the other ends of its connections.
func pathServer(sim *tradingsim.Sim) (*http.Server, func() []string) {
	var mu sync.Mutex
	var ports []string
	server := &http.Server{Handler: sim, ReadHeaderTimeout: time.Minute, ConnState: func(conn net.Conn, state http.ConnState) {
		if _, port, err := net.SplitHostPort(conn.RemoteAddr().String()); err == nil && state == http.StateNew {
			mu.Lock()
			defer mu.Unlock()
			ports = append(ports, port)
		}
	}}
	return server, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return ports
	}
}

// writeCertificate writes a certificate for the service in the namespace, and its key.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(pathThere)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: certificate}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
