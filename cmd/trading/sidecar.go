package main

import (
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

func newSidecar(app *cli.App) *cobra.Command {
	return cli.Group("sidecar", "Serve the API to the bots of this machine, in any language",
		newSidecarServe(app), newSidecarKeys(app), newSidecarStatus(app), newSidecarPending(app), newSidecarResolve(app),
		newSidecarAck(app), newSidecarHalt(app), newSidecarResume(app), newSidecarFlatten(app))
}
