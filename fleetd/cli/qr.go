package cli

import "github.com/skip2/go-qrcode"

// qrCode draws a text for the camera of a robot or of a phone, with half blocks; "" if it is too long for one.
func qrCode(text string) string {
	code, err := qrcode.New(text, qrcode.Low)
	if err != nil {
		return ""
	}
	return "\n" + code.ToSmallString(false)
}
