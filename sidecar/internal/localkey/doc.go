// Package localkey keeps the keys that the bots of one machine have for a sidecar, in one file.
// They look like keys of the service (pk_live_local_…, pk_test_local_…), open nothing there, and
// are stored as digests. A running sidecar sees a change of the file at the next request.
package localkey
