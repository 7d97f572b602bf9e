package backtest

type worker struct{}

func startWorker() *worker { return nil }
