package main

import (
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

func newTop(app *cli.App) *cobra.Command {
	return &cobra.Command{Use: "top", Short: "Show status live", Args: cli.Args()}
}
