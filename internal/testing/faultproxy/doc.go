// Package faultproxy stands between an HTTP client and a service, on real
// connections of loopback, and breaks them as networks, proxies and hostile
// servers do: what a fault in process cannot show.
//
// [Start] and [StartTLS] speak HTTP/1.1 and give a fault the connection of one
// request; [StartHTTP2] gives it the frames. Nothing in the package waits for
// time to pass: what holds back an answer does so until the client hangs up.
package faultproxy
