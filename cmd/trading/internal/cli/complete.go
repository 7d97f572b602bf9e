package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
)

// completionTimeout bounds the one request that a completion may make: a shell waits for it.
const completionTimeout = 2 * time.Second

// completes reports whether a command answers the shell, which gives it half a command line.
func completes(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
}

// Complete has the shell complete the values of flags, in a command and those below it.
// Markets and accounts are read from the service, if there is a key.
func (a *App) Complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var values func(context.Context, *cobra.Command) []string
		one, isChoice := f.Value.(choice)
		switch {
		case isChoice:
			values = func(context.Context, *cobra.Command) []string { return one.of }
		case f.Name == "symbol" && cmd.Flags().Lookup("base-url") != nil:
			values = a.symbols
		case f.Name == "account" && cmd.Flags().Lookup("base-url") != nil:
			values = a.accounts
		case f.Value.Type() == "bool", f.Name == "journal", f.Name == "key-file", f.Name == "csv", f.Name == "result", f.Name == "rerun", f.Name == "variant", f.Name == "prices", f.Name == "log",
			f.Name == "from", f.Name == "profile", f.Name == "against", f.Name == "manifest", f.Name == "junit", f.Name == "keep":
			return // the shell completes files
		default:
			values = func(context.Context, *cobra.Command) []string { return nil }
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
			defer cancel()
			return values(ctx, cmd), cobra.ShellCompDirectiveNoFileComp
		}) // fails only if there is one already
	})
	for _, sub := range cmd.Commands() {
		a.Complete(sub)
	}
}

func (a *App) symbols(ctx context.Context, cmd *cobra.Command) (names []string) {
	a.ask(cmd, func(client *trading.Client) {
		markets, _ := client.Sandbox.Markets(ctx)
		for _, m := range markets {
			names = append(names, m.Symbol)
		}
	})
	return names
}

func (a *App) accounts(ctx context.Context, cmd *cobra.Command) (ids []string) {
	a.ask(cmd, func(client *trading.Client) {
		accounts, _ := client.Live.Accounts(ctx)
		for _, one := range accounts {
			ids = append(ids, string(one.ID))
		}
	})
	return ids
}

// ask reads something for a completion. Whatever is missing or fails, there is just nothing
// to complete.
func (a *App) ask(cmd *cobra.Command, read func(*trading.Client)) {
	s := &Service{App: a, cmd: cmd, Env: trading.Environment("none")}
	s.baseURL, _ = cmd.Flags().GetString("base-url")
	s.keyFile, _ = cmd.Flags().GetString("key-file")
	if s.baseURL == "" {
		s.baseURL = a.Getenv("TRADING_BASE_URL")
	}
	if s.baseURL == "" {
		return
	}
	session, err := s.Connect()
	if err != nil {
		return
	}
	read(session.Client)
	_ = session.Close()
}
