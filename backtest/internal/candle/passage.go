package candle

import (
	"math"
	"sync"
)

// beta is how far a barrier has to be moved outwards so that a continuous walk meets it as a
// walk in steps meets the barrier itself (Broadie, Glasserman and Kou 1997).
const beta = 0.5826

// The series below are of a strip of width 1, with the time in its squares, each times
// e^(π²u/2): the times of a candle add up to its length, so that factor is the same for all of
// them and keeps long ones from vanishing.

// seriesFrom is where the sines converge faster than the images.
const seriesFrom = 0.4

// passage is the density of the time at which a walk leaves the strip for the first time, at the
// wall that is x away.
func passage(u, x float64) float64 {
	if u >= seriesFrom {
		sum := 0.0
		for k := 1.0; k <= 8; k++ {
			fall := float64((k*k - 1) * math.Pi * math.Pi / 2 * u)
			if fall > 36 {
				break
			}
			sum += float64(k * math.Sin(float64(k*math.Pi*x)) * math.Exp(-fall))
		}
		return max(0, float64(math.Pi*sum))
	}
	lift := float64(math.Pi * math.Pi / 2 * u)
	sum := 0.0
	for _, m := range [...]float64{x, x - 2, x + 2} {
		if float64(m*m)-float64(x*x) > float64(90*u) {
			continue // it is nothing beside the first
		}
		sum += float64(m * math.Exp(lift-float64(m*m)/(2*u)))
	}
	return max(0, sum/float64(u*math.Sqrt(float64(2*math.Pi*u))))
}

// crossing is the density of going from one wall to the other without touching either between.
func crossing(u float64) float64 {
	if u >= seriesFrom {
		sum, sign := 0.0, 1.0
		for k := 1.0; k <= 8; k++ {
			fall := float64((k*k - 1) * math.Pi * math.Pi / 2 * u)
			if fall > 36 {
				break
			}
			sum += float64(sign * k * k * math.Exp(-fall))
			sign = -sign
		}
		return max(0, float64(math.Pi*math.Pi*sum))
	}
	lift := float64(math.Pi * math.Pi / 2 * u)
	sum := 0.0
	for _, m := range [...]float64{1, 3} {
		sum += float64((float64(m*m)/u - 1) * math.Exp(lift-float64(m*m)/(2*u)))
	}
	return max(0, 2*sum/float64(u*math.Sqrt(float64(2*math.Pi*u))))
}

// crossAndLeave is a crossing and then a passage from the wall to x away from it, of both
// together so long: their convolution.
func crossAndLeave(u, x float64) float64 {
	if u >= seriesFrom {
		sum := 0.0
		for k := 1.0; k <= 8; k++ {
			kp := float64(k * math.Pi)
			fall := float64((kp*kp - math.Pi*math.Pi) / 2 * u)
			if fall > 40 {
				break
			}
			sin, cos := math.Sincos(float64((1 - x) * kp))
			sum += float64((float64(kp*sin*(float64(kp*kp*u)-2)) - float64(kp*kp*(1-x)*cos)) * math.Exp(-fall))
		}
		return max(0, sum)
	}
	lift := float64(math.Pi * math.Pi / 2 * u)
	g := func(a float64) float64 { return float64((float64(a*a)/u - 1) * math.Exp(lift-float64(a*a)/(2*u))) }
	sum := g(1+x) - g(3-x) + float64(2*(g(3+x)-g(5-x)))
	return max(0, 2*sum/float64(u*math.Sqrt(float64(2*math.Pi*u))))
}

// The first steps of a walk are no Brownian motion: for them the densities of new maxima are
// computed step by step.
const (
	ladderSteps = 40
	ladderGrid  = 0.05
	ladderMost  = 14.0
)

// ladder has, for each number of steps, the density of the first time at a new maximum so far
// away, over √2: what passage is for many steps.
var ladder = sync.OnceValue(func() [][]float64 {
	n := int(ladderMost/ladderGrid) + 1
	reach := int(7 / ladderGrid)
	kernel := make([]float64, reach+1)
	for i := range kernel {
		z := float64(i) * ladderGrid
		kernel[i] = math.Exp(-float64(z*z)/2) / math.Sqrt(2*math.Pi)
	}
	// By duality: the density of a walk that stays above 0 at each of its steps.
	wide := n + 4*reach
	f := make([]float64, wide)
	copy(f, kernel)
	table := make([][]float64, ladderSteps+1)
	for t := 1; t <= ladderSteps; t++ {
		table[t] = make([]float64, n)
		for i := range table[t] {
			table[t][i] = f[i] / math.Sqrt2
		}
		next := make([]float64, wide)
		for i := range next {
			sum := 0.0
			for k := max(0, i-reach); k <= min(wide-1, i+reach); k++ {
				w := ladderGrid
				if k == 0 {
					w /= 2
				}
				sum += float64(w * f[k] * kernel[max(i-k, k-i)])
			}
			next[i] = sum
		}
		f = next
	}
	return table
})

// arrival is the density of the first time at a wall, x away and then β, in a strip of that width.
func arrival(t int, x, width float64) float64 {
	u, share := float64(t)/float64(width*width), (x+beta)/width
	d := passage(u, share)
	if t > ladderSteps || x >= ladderMost-ladderGrid {
		return d
	}
	row, at := ladder()[t], x/ladderGrid
	i := int(at)
	first := row[i] + float64((at-float64(i))*(row[i+1]-row[i]))
	// What is known of one wall, times what the other takes away.
	one := float64(x+beta) / float64(float64(t)*math.Sqrt(float64(2*math.Pi*float64(t)))) * math.Exp(-float64((x+beta)*(x+beta))/float64(2*t))
	if one < 1e-250 {
		return d
	}
	return d * (first / one)
}
