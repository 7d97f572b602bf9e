package candle

import "math"

// Dice are random numbers that follow from a key.
type Dice struct {
	state uint64
	spare float64
	ready bool
}

// NewDice follow from the keys, in their order.
func NewDice(keys ...uint64) *Dice {
	d := &Dice{}
	for _, k := range keys {
		d.state = mix(d.state ^ mix(k))
	}
	return d
}

// at are those of a place.
func (d Dice) at(place int) Dice { return Dice{state: mix(d.state ^ mix(uint64(place)))} }

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *Dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	x := d.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uniform is at least 0 and below 1.
func (d *Dice) Uniform() float64 { return float64(d.next()>>11) * 0x1p-53 }

// Normal is of the standard normal distribution, by the polar method.
func (d *Dice) Normal() float64 {
	if d.ready {
		d.ready = false
		return d.spare
	}
	for {
		u, v := float64(2*d.Uniform())-1, float64(2*d.Uniform())-1
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(float64(-2*math.Log(s)) / s)
		d.spare, d.ready = float64(v*f), true
		return float64(u * f)
	}
}
