package docs

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools that the contract names.
const (
	toolSearch = "search_docs"
	toolPage   = "get_page"
)

// session is an open session, and what the arguments of its tools are called.
type session struct {
	*mcp.ClientSession
	arguments map[string]string // by tool
}

// ask calls a tool in the open session, or in a new one. A session that the server has
// forgotten is opened anew.
func (c *Client) ask(ctx context.Context, tool, value string) (*mcp.CallToolResult, error) {
	kept := c.open != nil
	x := &exchange{}
	res, err := c.request(context.WithValue(ctx, exchangeKey{}, x), tool, value)
	if kept && errors.Is(err, mcp.ErrSessionMissing) {
		c.drop()
		x = &exchange{}
		res, err = c.request(context.WithValue(ctx, exchangeKey{}, x), tool, value)
	}
	err = c.judge(ctx, x, tool, res, err)
	_ = x.fail(errOver) // nothing more is sent or read
	return res, err
}

// judge says how a call ended. A session on which anything went wrong, other than a
// refusal by the server, is not used again.
func (c *Client) judge(ctx context.Context, x *exchange, tool string, res *mcp.CallToolResult, err error) error {
	if err == nil && res.IsError {
		return &ToolError{Tool: tool, Message: refusalText(res)}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = &callError{tool: tool, err: context.Cause(ctx)}
	} else {
		err = x.explain(tool, err)
	}
	if refused := new(ToolError); !errors.As(err, &refused) {
		_ = x.fail(errOver)
		c.drop()
	}
	return err
}

// request opens a session if there is none, and calls a tool in it.
func (c *Client) request(ctx context.Context, tool, value string) (*mcp.CallToolResult, error) {
	if c.open == nil {
		open, err := c.connect(ctx)
		if err != nil {
			return nil, err
		}
		c.open = open
	}
	argument, ok := c.open.arguments[tool]
	if !ok {
		return nil, &AnswerError{Tool: tool, Problem: "it has no such tool with one argument that is text"}
	}
	return c.open.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{argument: value}})
}

// connect opens a session and reads what tools there are.
func (c *Client) connect(ctx context.Context) (*session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "trading-go-docs", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{}, // the server may ask for nothing
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	opened, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             c.endpoint,
		HTTPClient:           &http.Client{Transport: c.transport},
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
		MaxEventSize:         maxBytes,
	}, nil)
	if err != nil {
		return nil, err
	}
	s := &session{ClientSession: opened, arguments: map[string]string{}}
	for tool, err := range opened.Tools(ctx, nil) {
		if err != nil {
			_ = opened.Close()
			return nil, err
		}
		if name := argumentOf(tool); name != "" {
			s.arguments[tool.Name] = name
		}
	}
	return s, nil
}

// drop forgets the session. Only Close says so to the server: what went wrong on a session
// would go wrong with this request, too.
func (c *Client) drop() {
	if c.open != nil {
		_ = c.open.Close()
		c.open = nil
	}
}

// usual are the names of the argument, where a tool takes more than one.
var usual = map[string][]string{
	toolSearch: {"query", "q", "search", "text"},
	toolPage:   {"page", "path", "url", "slug", "id", "name"},
}

// argumentOf is the name of the argument that takes the query or the page: the only one
// that is required, or else one of the usual names; "" if there is none.
func argumentOf(tool *mcp.Tool) string {
	schema, _ := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	if len(required) == 1 {
		if name, _ := required[0].(string); isText(properties[name]) {
			return name
		}
	}
	for _, name := range usual[tool.Name] {
		if isText(properties[name]) {
			return name
		}
	}
	return ""
}

// isText reports whether the schema of an argument allows text.
func isText(schema any) bool {
	members, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	kind, found := members["type"]
	list, _ := kind.([]any)
	return !found || kind == "string" || slices.Contains(list, any("string"))
}
