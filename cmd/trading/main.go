// Command trading trades, watches and repairs from a terminal, and simulates the service.
// Its README shows the work of an operator; trading --help lists the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // an image from scratch has no zones

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/cmd/trading/internal/trial"
)

func main() {
	trial.Kept(os.Args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interruption ends the process
	app := cli.NewApp()
	os.Exit(app.Run(ctx, newRoot(app), os.Args[1:]))
}
