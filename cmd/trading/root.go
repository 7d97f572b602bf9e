package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/cmd/trading/internal/trial"
)

// newRoot returns the tree of commands.
func newRoot(app *cli.App) *cobra.Command {
	root := cli.Group("trading", "Trade, watch and repair from a terminal")
	root.Long = `Trade, watch and repair from a terminal, on the paper account unless --env live says
otherwise.

Keys come from TRADING_SANDBOX_KEY and TRADING_LIVE_KEY or from --key-file, never from
arguments. The service is TRADING_BASE_URL. "trading sim" serves a simulated one and
prints all three.

Results go to standard output (-o json for programs: amounts are strings), everything
else to standard error.

Exit codes, but of trading trial, which has its own:
  0    done
  1    not applied: nothing was changed
  2    the command line or the environment cannot be meant
  3    unknown: a write may have been applied, look first
  4    refused locally: nothing was sent
  5    an account is not proven flat
  6    the service's description has a change that can break a bot, or the service
       answers otherwise than it did
  8    the doctor, or a drill, found what real money must not meet
  130  interrupted, and nothing is pending`
	root.SilenceErrors, root.SilenceUsage = true, true
	add := func(group, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: title})
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add("look", "Look:", newDoctor(app), newStatus(app), newTop(app), newMarkets(app), newOrders(app), newPositions(app), newTrades(app), newRuns(app))
	add("trade", "Trade:", newPlace(app), newLimit(app), newPro(app), newClose(app), newCancel(app), newTPSL(app), newFlatten(app))
	add("guard", "Protect:", newProtect(app), newHalt(app), newResume(app), newTake(app), newRelease(app), newSidecar(app), newMCP(app), newApprove(app))
	add("repair", "Find out what happened:", newPending(app), newJournal(app), newAudit(app))
	add("tools", "Tools:", newBacktest(app), newOdds(app), newContract(app), newDocs(app), newDrill(app), newObserve(app), newSim(app), trial.New(app), newVersion(app))
	root.SetHelpCommandGroupID("tools")
	root.SetCompletionCommandGroupID("tools")
	app.Complete(root)
	return root
}

func newVersion(app *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cli.Args(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(app.Out, "trading %s, client %s\n", cli.Version(), trading.Version)
			return err
		},
	}
}
