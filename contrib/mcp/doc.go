// Package mcp is a Model Context Protocol server by which a language model looks, plans and trades
// through a client of package trading. A model limited to its tools cannot place an order twice, act
// outside the policy, or loosen anything without the approval that the policy asks for; and it can
// always get out.
//
//	engine, err := mcp.New(mcp.Config{Client: client, BaseURL: "https://…/v1", Mode: mcp.Paper, Dir: dir})
//	…
//	err = engine.Serve(ctx, mcp.Listeners{Fronts: fronts, Web: web, Page: page})
//
// # How a model trades
//
// The tool account shows what the account holds, what was written to it, and a state: a random
// token for exactly what that answer showed. A preview of an entry names a state, and returns a ticket.
// The tool execute sends what the ticket is bound to, once. Whatever was sent in a market after a
// state makes it old, for previews and for tickets alike, so a model that decides again has to look
// at what it did before. An entry beside an own one of the last ten minutes names that one.
//
// # Exits
//
// A close of a whole position, the cancel of an order that adds exposure, a flatten and a halt need
// no ticket, and no lock, mark, counter or approval of an entry holds them.
//
// # People
//
// What needs approval waits for a person: on a page of the loopback interface, or for the operator's
// command. Both ask for a passphrase that the model has never seen. Nothing that a front says
// approves anything.
//
// # What it cannot do
//
// Whoever has a shell under the same user can read the API key and every file of the engine. What
// the client itself cannot promise, docs/outcomes.md lists.
package mcp
