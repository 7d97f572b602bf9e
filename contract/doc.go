// Package contract compares the description that a service serves with the one
// that this version of the client was built from, and reports what changed, and
// which changes can break a bot.
//
//	served, err := client.OpenAPI(ctx)
//	changes, err := contract.Compare(served)
//	for _, change := range changes {
//		fmt.Println(change) // breaking: POST /orders: operation removed
//	}
//
// It sends nothing. cmd/trading has a command that does the same for a base URL.
//
// # What is breaking
//
// A change is breaking if what the client sends may be refused or understood
// differently, or if what it reads may be missing or of another shape:
//
//   - An operation, a success, a member or a value is gone. Of a value that is
//     only read too: a program may wait for it.
//   - A request has to hold what it did not, or may hold less than it did: a
//     member is required, a bound narrower, null no longer taken, another
//     default.
//   - An answer may leave out what it did not, or hold more than it did: a member
//     is optional, null, or of a wider range.
//   - A type, a format or a constant is another; a success comes in another
//     status.
//   - The kind of key, the security, or the class of limit is another, a limit is
//     lower, a code comes with other statuses.
//   - A keyword that this package does not understand changed.
//
// It is not if the client works on as it is: new operations, optional members of
// requests, members and values of answers (the client keeps those that it does not
// know), codes, and whatever the other way round is breaking.
//
// Texts, examples, names of components and the order of anything are not compared,
// and neither is an extension that the other description lacks. The package binds
// the description into the program, some 300 KB.
package contract

//go:generate go run ../tradingsim/internal/copyspec ../openapi.json openapi.json
