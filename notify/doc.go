// Package notify posts what a person has to know to a webhook: a halt, an account near its
// loss floor, a write that has been pending for more than a minute, a flattening.
//
//	hook, err := notify.New(notify.Config{URL: os.Getenv("WEBHOOK"), Format: notify.Slack})
//	…
//	defer hook.Close(ctx)
//	go hook.Watch(ctx, client)          // halts and pending writes
//	go hook.Protection(ctx, protection) // floors
//	hook.Flattened(report, err)         // what flatten.Account returned
//
// A message never holds the bot up: it is put into a bounded queue, and one goroutine posts
// them in order, until [Notifier.Close]. What fails is tried again, with growing pauses or
// after the Retry-After of the receiver, for a quarter of an hour. What the queue has no room
// for is dropped, the oldest first, and the next message says how many. A message can come
// twice, where the receiver's answer is lost.
//
// The URL of a webhook is a secret: whoever has it can post. It stands in no message, error
// or line of the log, no more than an API key does; redirects are not followed.
package notify
