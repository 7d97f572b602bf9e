package candle

import "math"

// Bar is a candle, in whole numbers of a tick.
type Bar struct{ Open, High, Low, Close int64 }

// widest is how many deviations of its length a candle's range may have: beyond that its
// volatility is taken from the range, since a walk would not have come so far.
const widest = 6.5

// Path draws a price for each second into a slice: the first is the open and the last the close.
// Sigma is the volatility of a second.
func (b Bar) Path(into []int64, sigma float64, d *Dice) {
	n := len(into) - 1
	into[0], into[n] = b.Open, b.Close
	if b.High == b.Low {
		for i := range into {
			into[i] = b.Low
		}
		return
	}
	low := float64(b.Low)
	log := math.Log(float64(b.High) / low)
	sigma = max(sigma, log/float64(widest*math.Sqrt(float64(n))))
	s := shape{width: log / sigma, steps: n, open: math.Log(float64(b.Open)/low) / sigma, close: math.Log(float64(b.Close)/low) / sigma}
	if b.Open == b.High { // whatever was rounded
		s.open = s.width
	}
	if b.Close == b.High {
		s.close = s.width
	}
	highFirst, first, last := s.extremes(d)
	w := bridge{v: make([]float64, n+1), width: s.width, dice: d}
	w.v[0], w.v[n] = s.open, s.close
	w.v[first], w.v[last] = 0, s.width
	into[first], into[last] = b.Low, b.High
	if highFirst {
		w.v[first], w.v[last] = s.width, 0
		into[first], into[last] = b.High, b.Low
	}
	w.fill(0, first)
	w.fill(first, last)
	w.fill(last, n)
	for i := 1; i < n; i++ {
		if i != first && i != last {
			into[i] = min(max(int64(math.RoundToEven(float64(low*math.Exp(float64(sigma*w.v[i]))))), b.Low), b.High)
		}
	}
}
