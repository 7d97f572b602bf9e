package cli

import (
	"errors"
	"io/fs"

	"github.com/tradingapi/trading-go/doctor"
	"github.com/tradingapi/trading-go/internal/disk"
)

// Settings are the base URL and the keys with where they come from, for who looks at the
// configuration itself: what is missing or wrong is no error here. env is the environment
// that flags do not overrule. Keys of a file that others can read are left out.
func (s *Service) Settings(env *App) (base, sandbox, live doctor.Setting, file string, err error) {
	base = doctor.Setting{Value: env.Getenv("TRADING_BASE_URL"), From: "TRADING_BASE_URL"}
	if s.baseURL != "" {
		base = doctor.Setting{Value: s.baseURL, From: "--base-url"}
	}
	if s.keyFile == "" {
		sandbox = doctor.Setting{Value: env.Getenv("TRADING_SANDBOX_KEY"), From: "TRADING_SANDBOX_KEY"}
		live = doctor.Setting{Value: env.Getenv("TRADING_LIVE_KEY"), From: "TRADING_LIVE_KEY"}
		return base, sandbox, live, "", nil
	}
	k, _, err := readKeys(s.keyFile)
	if errors.Is(err, disk.ErrUnsafe) || errors.Is(err, fs.ErrNotExist) {
		return base, sandbox, live, s.keyFile, nil // the doctor says what is wrong with it
	}
	return base, doctor.Setting{Value: k.sandbox, From: s.keyFile}, doctor.Setting{Value: k.live, From: s.keyFile}, s.keyFile, err
}
