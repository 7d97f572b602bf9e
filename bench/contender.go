package main

import (
	"context"
	"net/http"
)

// place is where a contender sends.
type place struct {
	base string
	// transport is the connections that all contenders share; nil lets each make
	// what it makes by itself.
	transport http.RoundTripper
}

// httpClient is what a bot that writes the calls by hand would use.
func (p place) httpClient() *http.Client {
	if p.transport == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: p.transport}
}

// task is one call of a contender, to be repeated. What it returns is what the
// library has made of the answer, for the tests to look at.
type task struct {
	do    func(context.Context) (any, error)
	close func()
}

func untilDone(do func(context.Context) (any, error)) task {
	return task{do: do, close: func() {}}
}

// contender is a library, and how the work is done with it.
type contender struct {
	name string
	// floor names the contender that has the same exchange by hand, with the same
	// bytes; it is the measure of this one.
	floor string
	// hidden keeps a floor of a peer out of the tables: it is a column there.
	hidden bool
	// lone is a contender whose calls go one at a time.
	lone bool
	// own is a contender that brings its own connections.
	own bool

	order func(place) (task, error)
}

// Names of the contenders that others are measured by, and of the one that this
// is about.
const (
	byHand  = "net/http + encoding/json, float64"
	nameOwn = "**this client**"
)

// contenders returns all of them.
func contenders() []contender {
	var all []contender
	all = append(all, clientContenders()...)
	all = append(all, bareContenders()...)
	all = append(all, alpacaContenders()...)
	all = append(all, binanceContenders()...)
	all = append(all, hcloudContenders()...)
	all = append(all, stripeContenders()...)
	return all
}
