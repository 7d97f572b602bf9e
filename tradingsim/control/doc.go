// Package control steers a simulation of package tradingsim from outside: by a browser,
// or by a program in any language. [Serve] serves three things on a listener of its own:
//
//   - the control API below /_sim/v1/: marks, faults, health, accounts, the clock, the
//     ledger and the request log; openapi.json describes it;
//   - an event stream of what happens, which resumes where it broke off;
//   - a page that shows all of it, with a button for each fault.
//
// It answers only requests that name its own host, none from another origin, and none
// without its token or the session of the page. No GET changes anything.
package control
