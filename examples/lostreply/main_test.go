package main

func Example() {
	main()
	// Output:
	// the bot knows: filled at 64000
	// the service executed: 1 order
}
