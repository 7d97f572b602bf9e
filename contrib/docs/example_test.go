package docs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tradingapi/trading-go/contrib/docs"
)

// A search, and the first page that it finds. The server is one of this example's, on
// this machine.
func Example() {
	server := httptest.NewServer(documentation()) // yours: the service's docs_url
	defer server.Close()
	ctx := context.Background()

	client, err := docs.New(docs.Config{URL: server.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hits, err := client.Search(ctx, "idempotency")
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Printf("%s (%s): %s\n", hit.Title, hit.Page, hit.Text)
	}
	page, err := client.Page(ctx, hits[0].Page)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Text)

	_, err = client.Page(ctx, "guides/none")
	var refused *docs.ToolError
	if errors.As(err, &refused) {
		fmt.Println(err)
	}
	// Output:
	// Idempotency (guides/idempotency): A key is replayed for 24 hours.
	// # Idempotency
	//
	// Send a key with every live write.
	// docs: get_page refused: "no such page"
}

func documentation() http.Handler {
	type search struct {
		Query string `json:"query"`
	}
	type result struct {
		Results []map[string]string `json:"results"`
	}
	type get struct {
		Path string `json:"path"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search_docs"}, func(context.Context, *mcp.CallToolRequest, search) (*mcp.CallToolResult, result, error) {
		return nil, result{Results: []map[string]string{
			{"title": "Idempotency", "path": "guides/idempotency", "text": "A key is replayed for 24 hours."},
		}}, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "get_page"}, func(_ context.Context, _ *mcp.CallToolRequest, in get) (*mcp.CallToolResult, any, error) {
		if in.Path != "guides/idempotency" {
			return nil, nil, errors.New("no such page")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "# Idempotency\n\nSend a key with every live write."},
		}}, nil, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}
