package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is the transport of stdio: one message a line. A line that is too long, too deep or no
// message is answered with a parse error, and the server goes on.
type lines struct {
	in  io.Reader
	out io.WriteCloser
}

func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	return &lineConnection{in: bufio.NewReaderSize(l.in, mostBytes), out: l.out}, nil
}

type lineConnection struct {
	in *bufio.Reader

	mu  sync.Mutex // whole lines
	out io.WriteCloser
}

const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not one line of strict JSON, at most 64 KiB and 32 levels"}}` + "\n"

func (c *lineConnection) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := c.in.ReadSlice('\n')
		bad := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of it
			_, err = c.in.ReadSlice('\n')
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 1 {
			continue
		}
		if !bad && strict(line) == nil {
			if m, err := jsonrpc.DecodeMessage(line); err == nil {
				return m, nil
			}
		}
		if err := c.write([]byte(parseError)); err != nil {
			return nil, err
		}
	}
}

func (c *lineConnection) write(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(line)
	return err
}

func (c *lineConnection) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.write(append(data, '\n'))
}

func (c *lineConnection) Close() error    { return c.out.Close() }
func (*lineConnection) SessionID() string { return "" }

// ServeLines serves one front, until it ends.
func (e *Engine) ServeLines(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	return e.server().Run(ctx, &lines{in, out})
}
