package browser

import (
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"maps"
	"slices"
)

// film is a moving picture of a page: few colours, and little that changes between two frames.
type film struct {
	frames []*image.RGBA
	delays []int // hundredths of a second
}

// add adds a frame. One that shows what the last did makes that one longer.
func (f *film) add(shot image.Image, hundredths int) {
	frame := image.NewRGBA(image.Rectangle{Max: shot.Bounds().Size()})
	for y := range frame.Rect.Dy() {
		for x := range frame.Rect.Dx() {
			frame.Set(x, y, shot.At(shot.Bounds().Min.X+x, shot.Bounds().Min.Y+y))
		}
	}
	if n := len(f.frames); n > 0 && changed(f.frames[n-1], frame).Empty() {
		f.delays[n-1] += hundredths
		return
	}
	f.frames, f.delays = append(f.frames, frame), append(f.delays, hundredths)
}

// changed is the smallest rectangle outside of which two frames are the same.
func changed(before, after *image.RGBA) (all image.Rectangle) {
	for y := range after.Rect.Dy() {
		for x := range after.Rect.Dx() {
			if before.RGBAAt(x, y) != after.RGBAAt(x, y) {
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return all
}

// palette is the colours that the frames have most often; the first stands for no change.
func (f *film) palette() color.Palette {
	counts := map[color.RGBA]int{}
	for _, frame := range f.frames {
		for i := 0; i < len(frame.Pix); i += 4 {
			counts[color.RGBA{frame.Pix[i], frame.Pix[i+1], frame.Pix[i+2], 255}]++
		}
	}
	often := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) })
	colors := color.Palette{color.RGBA{}}
	for _, c := range often[:min(len(often), 255)] {
		colors = append(colors, c)
	}
	return colors
}

// gif is the film, without an end. Each frame holds what changed.
func (f *film) gif() *gif.GIF {
	colors := f.palette()
	nearest := map[color.RGBA]uint8{}
	index := func(c color.RGBA) uint8 {
		i, ok := nearest[c]
		if !ok {
			i = uint8(1 + colors[1:].Index(c))
			nearest[c] = i
		}
		return i
	}
	moving := &gif.GIF{Delay: f.delays}
	for i, frame := range f.frames {
		part := frame.Rect
		if i > 0 {
			part = changed(f.frames[i-1], frame)
		}
		drawn := image.NewPaletted(part, colors)
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				if i == 0 || f.frames[i-1].RGBAAt(x, y) != frame.RGBAAt(x, y) {
					drawn.SetColorIndex(x, y, index(frame.RGBAAt(x, y)))
				}
			}
		}
		moving.Image = append(moving.Image, drawn)
		moving.Disposal = append(moving.Disposal, gif.DisposalNone)
	}
	return moving
}
