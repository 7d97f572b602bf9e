package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contract"
)

// changeView is a change as JSON.
type changeView struct {
	Breaking bool   `json:"breaking"`
	Text     string `json:"text"`
}

func newContract(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "contract", Short: "Compare the service's description with the one of this version", Args: cli.Args(),
		Long: `Compare the description that the service serves with the one that this version was built
from. It sends one request, without a key. The exit code is 6 if a change can break a bot.`,
	}
	service := app.Connection(cmd, readTimeout)
	out := app.Output(cmd)
	file := cmd.Flags().String("file", "", "compare the description in this file, and send nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		served, err := served(cmd.Context(), service, *file)
		if err != nil {
			return err
		}
		changes, err := contract.Compare(served)
		if err != nil {
			return err
		}
		return errors.Join(showChanges(out, changes), breaking(changes))
	}
	return cmd
}

func served(ctx context.Context, service *cli.Service, file string) (text []byte, err error) {
	if file != "" {
		return os.ReadFile(file)
	}
	err = withClient(ctx, service, func(ctx context.Context, session *cli.Session) error {
		text, err = session.OpenAPI(ctx)
		return err
	})
	return text, err
}

func showChanges(out *cli.Output, changes []contract.Change) error {
	views := make([]changeView, len(changes))
	count := 0
	for i, c := range changes {
		views[i] = changeView{c.Breaking, c.String()}
		if c.Breaking {
			count++
		}
	}
	return out.Print(views, func(w io.Writer) {
		for _, v := range views {
			cli.Row(w, v.Text)
		}
		fmt.Fprintf(w, "%d changes, %d of them breaking\n", len(views), count)
	})
}

func breaking(changes []contract.Change) error {
	if contract.Breaking(changes) {
		return cli.WithCode(cli.Breaking, errors.New("a change can break a bot"))
	}
	return nil
}
