package schema

import "testing"

func TestFrameWithUnknownFieldIsRefused(t *testing.T) {
	const head = `{"lease":"l","seq":1,"vx":0.2,"wz":0,"ttl_ms":400,"seen_mono_ms":7`
	want := VelocityFrame{Lease: "l", Seq: 1, VXMPS: 0.2, TTLMS: 400, SeenMonoMS: 7}
	for tail, pointer := range map[string]string{
		`}`:                         "",
		`,"x_stick":"left"}`:        "",
		`,"x_a":{"b":[1]},"x_c":0}`: "",
		`,"vy":0.9}`:                "/vy",
		`,"x_stick":1,"vy":0.9}`:    "/vy",
		`,"VX":0.9}`:                "/VX",
		`,"x_stick":1,"x_stick":2}`: "/x_stick",
	} {
		f, ps := DecodeFrame([]byte(head + tail))
		switch {
		case pointer == "" && (len(ps) > 0 || f != want):
			t.Errorf("%s: %+v, %v", tail, f, ps)
		case pointer != "" && (len(ps) == 0 || ps[0].Pointer != pointer):
			t.Errorf("%s: %v, want a problem at %s", tail, ps, pointer)
		}
	}
}
