package odds

import "math"

// blockLength is how many days a block of the stationary bootstrap has in the mean, after Politis
// and White 2004 with the correction of Patton, Politis and White 2009. It is at least 1.
func blockLength(x []float64) float64 {
	n := len(x)
	if n < 4 {
		return 1
	}
	longest := math.Ceil(min(3*math.Sqrt(float64(n)), float64(n)/3))
	r, quiet := lags(x)
	if r[0] <= 0 {
		return 1
	}
	spectrum, slope, _ := spectrumOf(r, n, quiet)
	variance := 2 * spectrum * spectrum
	if variance <= 0 {
		return 1
	}
	b := math.Cbrt(2*slope*slope/variance) * math.Cbrt(float64(n))
	return min(max(b, 1), longest)
}

// spectrumOf are the long-run variance, and the sum of lags times covariances, by a flat-top window
// whose weights have a sum.
func spectrumOf(r []float64, n, quiet int) (spectrum, slope, weights float64) {
	last := bandwidth(r, quiet, 2*math.Sqrt(math.Log10(float64(n))/float64(n)))
	m := min(2*last, len(r)-1)
	spectrum, weights = r[0], 1
	for k := 1; k <= m; k++ {
		w := flatTop(float64(k) / float64(m))
		spectrum += float64(2 * w * r[k])
		slope += float64(2 * w * float64(k) * r[k])
		weights += 2 * w
	}
	return spectrum, slope, weights
}

// bandwidth is the last lag before so many correlations in a row are within the bound.
func bandwidth(r []float64, quiet int, bound float64) int {
	run := 0
	for k := 1; k < len(r); k++ {
		if math.Abs(r[k]/r[0]) >= bound {
			run = 0
			continue
		}
		if run++; run == quiet {
			return max(1, k-quiet)
		}
	}
	for k := len(r) - 1; k > 0; k-- {
		if math.Abs(r[k]/r[0]) >= bound {
			return k
		}
	}
	return 1
}

// lags are the covariances that are looked at, and how many in a row must be small.
func lags(x []float64) (r []float64, quiet int) {
	n := float64(len(x))
	quiet = max(5, int(math.Sqrt(math.Log10(n))))
	return covariances(x, min(int(math.Ceil(math.Sqrt(n)))+quiet, len(x)-1)), quiet
}

// meanError is the standard error of the mean. The long-run variance is the largest of three
// estimates, since each of them is too small where the memory is not the one that it looks for:
// that of the window, corrected for the mean that it takes off, that of an autoregression of one
// day, and that of independent days.
func meanError(x []float64) float64 {
	n := float64(len(x))
	r, quiet := lags(x)
	spectrum, _, weights := spectrumOf(r, len(x), quiet)
	spectrum = max(spectrum*n/max(n-weights, n/2), r[0]*n/(n-1))
	if first := r[1] / r[0]; first > 0 && first < 0.9 {
		spectrum = max(spectrum, r[0]*(1+first)/(1-first))
	}
	return math.Sqrt(spectrum / n)
}

// flatTop is the trapezoidal window.
func flatTop(t float64) float64 {
	switch {
	case t <= 0.5:
		return 1
	case t <= 1:
		return 2 * (1 - t)
	}
	return 0
}

// covariances are those of lags from 0 to most.
func covariances(x []float64, most int) []float64 {
	m, n := mean(x), float64(len(x))
	r := make([]float64, most+1)
	for k := range r {
		for i := k; i < len(x); i++ {
			r[k] += float64((x[i] - m) * (x[i-k] - m))
		}
		r[k] /= n
	}
	return r
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

func deviation(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
