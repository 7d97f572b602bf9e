// Package redis counts a service's rate limits in Redis, for processes that
// share a key or a user.
//
//	store, err := redis.New(goredis.NewClient(&goredis.Options{Addr: "localhost:6379"}), "desk-1")
//	client, err := trading.New(baseURL, trading.WithRateLimits(trading.RateLimits{Store: store, Owner: "desk-1"}))
//
// Each method is one script, so that a slot is taken in every bucket or in none,
// whoever else is asking. Time is that of Redis alone: the clocks of the processes
// may be wrong. A slot of a process that died is given back a window after the
// request must have ended, and every key expires, so nothing stays for ever.
//
// All keys of an owner have the hash tag {owner}, and so live in one hash slot of a
// Redis Cluster. Redis 5 or later is needed.
package redis
