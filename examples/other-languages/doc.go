// Package otherlanguages has bots in Python, bash and TypeScript, which
// docs/other-languages.md explains. Its tests run them against the simulator.
package otherlanguages
