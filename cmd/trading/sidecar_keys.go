package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
)

// sidecarDir is the folder of a sidecar; anew, of one that may not have run yet.
func sidecarDir(app *cli.App, cmd *cobra.Command, anew bool) func() (string, error) {
	folder := stateDirFlag(app, cmd, "sidecar")
	return func() (string, error) {
		do := "it is the one that the sidecar was started with"
		if dir, _ := folder.get(); anew { // an error is that of existing too
			do = "mkdir -m 700 " + dir
		}
		return folder.existing(do)
	}
}

func newSidecarKeys(app *cli.App) *cobra.Command {
	group := cli.Group("keys", "Make and take back the local keys of bots", newKeysAdd(app), newKeysList(app), newKeysRemove(app))
	group.Long = `Make and take back the local keys of bots. A bot behind a sidecar has a local key, which
opens nothing on the service; the real keys stay in the sidecar. A sidecar that runs sees a
change at the next request.`
	return group
}

// keyView is a local key, for programs too.
type keyView struct {
	Name      string   `json:"name"`
	Env       string   `json:"env"`
	Accounts  []string `json:"accounts"`
	May       string   `json:"may"`
	Made      string   `json:"made"`
	TakenBack string   `json:"taken_back,omitempty"`
	Key       string   `json:"key,omitempty"` // when it is made
}

func viewKey(k sidecar.Key) keyView {
	v := keyView{
		Name: k.Name, Env: "sandbox", Accounts: append([]string{}, k.Accounts...), May: string(k.May),
		Made: cli.Stamp(k.Made), TakenBack: cli.Stamp(k.TakenBack),
	}
	if k.Live {
		v.Env = "live"
	}
	return v
}

func newKeysAdd(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make the local key of a bot, and print it once", Args: cli.Args("NAME"),
		Long: `Make the local key of a bot, and print it: nothing can show it again. NAME is the bot's in
logs and in the journal. Each bot has a key of its own: what one bot has not heard holds back
that bot alone, and two bots with one key are taken for one.`,
		Example: "  trading sidecar keys add grid --account acc_1 --state-dir sidecar.state\n  trading sidecar keys add watcher --account '*' --may read --state-dir sidecar.state",
	}
	dir, out := sidecarDir(app, cmd, true), app.Output(cmd)
	var k sidecar.Key
	var may string
	f := cmd.Flags()
	f.StringArrayVar(&k.Accounts, "account", nil, "a live account that the bot may see, or '*' for every one; may be repeated")
	paper := f.Bool("paper", false, "a key for the paper account, instead of --account")
	cli.Choice(f, &may, "may", "", "trade", "what the bot may do: read, exits (closes, cancels, reduce-only orders and levels too) or trade", "read", "exits", "trade")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *paper == (len(k.Accounts) > 0) {
			return cli.Misuse("which account? --account ACCOUNT, or --paper")
		}
		folder, err := dir()
		if err != nil {
			return err
		}
		k.Name, k.Live = args[0], !*paper
		k.May = map[string]sidecar.May{"read": sidecar.Read, "exits": sidecar.Exits, "trade": sidecar.Trade}[may]
		secret, err := sidecar.AddKey(folder, k)
		if err != nil {
			return cli.WithCode(cli.NotApplied, err)
		}
		v := viewKey(k)
		v.Key, v.Made = secret, ""
		if k.Live {
			app.Sayf("the accounts were not checked: if a bot is answered account_not_found, the sidecar's own key does not reach its account")
		}
		return out.Print(v, func(w io.Writer) { fmt.Fprintln(w, secret) })
	}
	return cmd
}

func newKeysList(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the local keys, without their secrets", Args: cli.Args()}
	dir, out := sidecarDir(app, cmd, false), app.Output(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		folder, err := dir()
		if err != nil {
			return err
		}
		keys, err := sidecar.Keys(folder)
		if err != nil {
			return cli.WithCode(cli.NotApplied, err)
		}
		views := make([]keyView, len(keys))
		for i, k := range keys {
			views[i] = viewKey(k)
		}
		return out.Print(views, func(w io.Writer) {
			cli.Row(w, "NAME", "ENV", "ACCOUNTS", "MAY", "MADE", "TAKEN BACK")
			for _, v := range views {
				cli.Row(w, v.Name, v.Env, strings.Join(v.Accounts, " "), v.May, v.Made, v.TakenBack)
			}
		})
	}
	return cmd
}

func newKeysRemove(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Take the local key of a bot back, at once", Args: cli.Args("NAME"),
		Long: `Take the local key of a bot back: from the next request on it opens nothing. What the bot
has asked for before is carried out.`,
	}
	dir := sidecarDir(app, cmd, false)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		folder, err := dir()
		if err != nil {
			return err
		}
		if err := sidecar.RemoveKey(folder, args[0]); err != nil {
			return cli.WithCode(cli.NotApplied, err)
		}
		app.Sayf("the key of %s was taken back", cli.Printable(args[0]))
		return nil
	}
	return cmd
}
