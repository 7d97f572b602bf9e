package candle

import "math"

// bridge is a walk of whole steps that is known at some of them and never leaves a strip.
type bridge struct {
	v     []float64 // above the lower wall
	width float64
	dice  *Dice
}

// fill draws what is between two steps, by halving.
func (b *bridge) fill(from, to int) {
	if to-from < 2 {
		return
	}
	middle := (from + to) / 2
	b.v[middle] = b.between(b.v[from], b.v[to], middle-from, to-middle)
	b.fill(from, middle)
	b.fill(middle, to)
}

// tries bounds a draw; none has come near.
const tries = 10_000

// between draws the middle of a bridge from a to c: that of a free one, as often as both halves
// stay inside.
func (b *bridge) between(a, c float64, left, right int) float64 {
	l, r := float64(left), float64(right)
	mean := (float64(a*r) + float64(c*l)) / (l + r)
	variance := float64(l*r) / (l + r)
	deviation := math.Sqrt(variance)
	strip := b.width + 2*beta
	if b.width < deviation || max(l, r) > float64(0.35*strip*strip) {
		return b.narrow(a, c, mean, variance, left, right)
	}
	most := float64(ceiling(a, mean+4*deviation, b.width, l) * ceiling(c, mean+4*deviation, b.width, r) *
		ceiling(b.width-a, b.width-mean+4*deviation, b.width, l) * ceiling(b.width-c, b.width-mean+4*deviation, b.width, r))
	for range tries {
		m := mean + float64(deviation*b.dice.Normal())
		if m < 0 || m > b.width {
			continue
		}
		if left == 1 && right == 1 || b.far(a, m, l) && b.far(m, c, r) {
			return m
		}
		if float64(b.dice.Uniform()*most) < float64(b.inside(a, m, left)*b.inside(m, c, right)) {
			return m
		}
	}
	return min(max(mean, 0), b.width)
}

// ceiling bounds the chance that a piece misses a wall that is a away from its one end and at
// most m from the other.
func ceiling(a, m, width, t float64) float64 {
	z := float64(2*(a+0.71)*(min(m, width)+0.71)) / t
	if z > 2 || t <= 2 {
		return 1
	}
	return 1 - math.Exp(-z)
}

// far reports whether no wall is near a piece.
func (b *bridge) far(x, y, t float64) bool {
	return float64(2*x*y) > float64(16*t) && float64(2*(b.width-x)*(b.width-y)) > float64(16*t)
}

// inside is the chance that a bridge of so many steps stays in the strip.
func (b *bridge) inside(x, y float64, steps int) float64 {
	switch steps {
	case 1:
		return 1
	case 2:
		m := (x + y) / 2
		return (math.Erf(m) + math.Erf(b.width-m)) / 2
	}
	t, w := float64(steps), b.width+2*beta
	x, y = b.moved(x), b.moved(y)
	q := 1.0
	for _, part := range [...]struct{ sign, power float64 }{
		{-1, float64(x * y)},
		{-1, float64((w - x) * (w - y))},
		{1, float64(w * (w - y + x))},
		{1, float64(w * (w + y - x))},
		{-1, float64((w + x) * (w + y))},
		{-1, float64((2*w - x) * (2*w - y))},
	} {
		if power := float64(2*part.power) / t; power < 30 {
			q += float64(part.sign * math.Exp(-power))
		}
	}
	return max(0, q)
}

// moved is a place in the strip of a continuous walk. At a wall the step that leaves it is taken
// already, so the wall is a little farther than β away.
func (b *bridge) moved(x float64) float64 {
	if x <= b.width/2 {
		if x < 2.5 {
			return x + beta + float64(0.1245*math.Exp(float64(-3.26*x)))
		}
		return x + beta
	}
	if up := b.width - x; up < 2.5 {
		return x + beta - float64(0.1245*math.Exp(float64(-3.26*up)))
	}
	return x + beta
}

// narrow draws the middle where both walls are near: places of the strip, as often as the
// densities of both halves say.
func (b *bridge) narrow(a, c, mean, variance float64, left, right int) float64 {
	w := b.width + 2*beta
	if max(float64(left), float64(right)) <= float64(0.35*w*w) { // it is only a few steps long
		centre := min(max(mean, 0), b.width)
		least := float64((centre - mean) * (centre - mean))
		for range tries {
			m := float64(b.width * b.dice.Uniform())
			d := m - mean
			if b.dice.Uniform() < float64(math.Exp((least-float64(d*d))/float64(2*variance))*b.inside(a, m, left)*b.inside(m, c, right)) {
				return m
			}
		}
		return centre
	}
	a, c = b.moved(a), b.moved(c)
	from, to := newSines(a, w, left), newSines(c, w, right)
	most := float64(from.most * to.most)
	for range tries {
		m := float64(b.width * b.dice.Uniform())
		if float64(b.dice.Uniform()*most) < float64(from.at(b.moved(m))*to.at(b.moved(m))) {
			return m
		}
	}
	return min(max(mean, 0), b.width)
}

// sines is the density of a walk that stays in a strip, over its place at the end.
type sines struct {
	width float64
	by    [8]float64
	n     int
	most  float64
}

func newSines(from, width float64, steps int) sines {
	s := sines{width: width}
	u := float64(steps) / float64(width*width)
	for k := 1; k <= len(s.by); k++ {
		fall := float64(float64(k*k-1) * math.Pi * math.Pi / 2 * u)
		if fall > 30 {
			break
		}
		s.by[s.n] = float64(math.Sin(float64(float64(k)*math.Pi*from/width)) * math.Exp(-fall))
		s.most += math.Abs(s.by[s.n])
		s.n++
	}
	return s
}

func (s *sines) at(x float64) float64 {
	sum := 0.0
	for k := range s.n {
		sum += float64(s.by[k] * math.Sin(float64(float64(k+1)*math.Pi*x/s.width)))
	}
	return max(0, sum)
}
