// Package surface holds no code. Its tests look at what the public packages of
// this module export: each name has its sentence, and all of them together are
// written to testdata/api at the root, where a change shows in review.
//
//	go test ./internal/proof/surface -update
//
// writes the files anew.
package surface
