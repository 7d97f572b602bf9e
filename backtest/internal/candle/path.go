package candle

// Bar is a candle, in whole numbers of a tick.
type Bar struct{ Open, High, Low, Close int64 }

// widest is how many deviations of its length a candle's range may have: beyond that its
// volatility is taken from the range, since a walk would not have come so far.
const widest = 6.5
