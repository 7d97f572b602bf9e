package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/docs"
)

func newDocs(app *cli.App) *cobra.Command {
	return cli.Group("docs", "Search and read the service's documentation",
		newDocsSearch(app), newDocsPage(app))
}

// library is how a command reaches the documentation: its flags.
type library struct {
	app     *cli.App
	url     string
	timeout time.Duration
}

func newLibrary(app *cli.App, cmd *cobra.Command) *library {
	l := &library{app: app}
	cmd.Flags().StringVar(&l.url, "docs-url", "", "root of the published documentation (default $TRADING_DOCS_URL)")
	cmd.Flags().DurationVar(&l.timeout, "timeout", readTimeout, "how long to try")
	return l
}

// with calls do with a client of the documentation.
func (l *library) with(ctx context.Context, do func(context.Context, *docs.Client) error) (err error) {
	if l.timeout <= 0 {
		return cli.Misuse("--timeout must be greater than 0, not %s", l.timeout)
	}
	if l.url == "" {
		l.url = l.app.Getenv("TRADING_DOCS_URL")
	}
	if l.url == "" {
		return cli.Misuse("which documentation? set TRADING_DOCS_URL, or give --docs-url")
	}
	client, err := docs.New(docs.Config{URL: l.url})
	if err != nil {
		return codeOfDocs(err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return codeOfDocs(do(ctx, client))
}

// codeOfDocs gives an error of the command line its exit code.
func codeOfDocs(err error) error {
	if errors.As(err, new(*docs.ConfigError)) || errors.As(err, new(*docs.ArgumentError)) {
		return cli.WithCode(cli.Usage, err)
	}
	return err
}

// hitView is a place in the documentation.
type hitView struct {
	Title string `json:"title"`
	Page  string `json:"page"`
	Text  string `json:"text"`
}

func newDocsSearch(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "search QUERY...", Short: "Search the documentation", Args: cli.AtLeast("QUERY"),
		Long:    "Search the documentation, best match first. No key is sent. The text is the server's.",
		Example: "  trading docs search idempotency key",
	}
	l := newLibrary(app, cmd)
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return l.with(cmd.Context(), func(ctx context.Context, client *docs.Client) error {
			hits, err := client.Search(ctx, strings.Join(args, " "))
			if err != nil {
				return err
			}
			views := make([]hitView, len(hits))
			for i, h := range hits {
				views[i] = hitView(h)
			}
			return out.Print(views, func(w io.Writer) {
				if len(views) == 0 {
					fmt.Fprintln(w, "nothing found")
				}
				for _, v := range views {
					fmt.Fprintf(w, "%s\n  page: %s\n%s\n\n", v.Title, v.Page, indent(v.Text))
				}
			})
		})
	}
	return cmd
}

// pageView is a page of the documentation.
type pageView struct {
	Page      string `json:"page"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated"`
}

func newDocsPage(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "page PAGE", Short: "Print a page of the documentation", Args: cli.Args("PAGE"),
		Long: "Print a page of the documentation, as trading docs search names it. No key is sent. The\ntext is the server's.",
	}
	l := newLibrary(app, cmd)
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return l.with(cmd.Context(), func(ctx context.Context, client *docs.Client) error {
			page, err := client.Page(ctx, args[0])
			if err != nil {
				return err
			}
			return out.Print(pageView{args[0], page.Title, page.Text, page.Truncated}, func(w io.Writer) {
				if page.Title != "" {
					fmt.Fprintf(w, "%s\n\n", page.Title)
				}
				fmt.Fprintln(w, untabbed(page.Text))
				if page.Truncated {
					fmt.Fprintln(w, "\n(the page is longer: it is cut here)")
				}
			})
		})
	}
	return cmd
}

func indent(text string) string { return "  " + strings.ReplaceAll(untabbed(text), "\n", "\n  ") }

// untabbed keeps the tabs of a text out of the columns of a table.
func untabbed(text string) string { return strings.ReplaceAll(text, "\t", "    ") }
