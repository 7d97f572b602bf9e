// Package recovery plays what can become of a write against the simulator, in virtual
// time, and holds what the client says of it against the simulator's ledger.
//
//	go test ./internal/proof/recovery                                  a sample
//	go test ./internal/proof/recovery -matrix.full -timeout 10m        every cell
//	go test ./internal/proof/recovery -run TestMatrix -v -matrix.print -timeout 10m
//
// The last prints the matrix: a table for each kind of write, with a line for each
// fault, a group for each restart, and in it how long it took for each state of the
// account. A cell with a question mark is not decided, and below the table is why.
package recovery
