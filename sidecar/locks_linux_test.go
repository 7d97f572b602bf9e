package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// A name in the abstract socket space, which every user of the machine can take, keeps no sidecar
// from its accounts.
func TestFound18_ANameThatAnotherUserTakes(t *testing.T) {
	r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"})})
	require.NoError(t, r.server.Close())
	sum := sha256.Sum256([]byte(r.config.BaseURL + "\nacc_1"))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Close(fd)) }()
	name := fmt.Sprintf("@trading-sidecar/%d/%s", os.Geteuid(), hex.EncodeToString(sum[:16]))
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: name})) // and listens to nobody
	r.start()
	require.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
}
