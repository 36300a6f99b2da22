package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
)

// faint lists the texts whose contrast with what is behind them is below 4.5
// (https://www.w3.org/TR/WCAG22/#contrast-minimum).
const faint = `(() => {
	const channels = (color) => {
		const n = color.match(/[\d.]+/g).map(Number);
		return color.startsWith("color(") ? n.slice(0, 3).map((c) => c * 255).concat(n[3] ?? 1) : n.slice(0, 3).concat(n[3] ?? 1);
	};
	const luminance = (rgb) => {
		const [r, g, b] = rgb.slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const color = channels(getComputedStyle(e).backgroundColor);
			if (color[3] === 1) return color;
		}
		return [255, 255, 255, 1];
	};
	const texts = [...document.querySelectorAll("body *")].filter((e) =>
		e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim() !== ""));
	const list = texts.map((e) => {
		const [a, b] = [luminance(channels(getComputedStyle(e).color)), luminance(behind(e))];
		return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.trim()];
	});
	if (list.length < 50) return ["only " + list.length + " texts were looked at"];
	return list.filter(([contrast]) => contrast < 4.5).map(([contrast, text]) => contrast.toFixed(2) + " " + text);
})()`

func TestContrast(t *testing.T) {
	tab := open(t, busy(t))
	tab.do(chromedp.Click(chromedp.CSS(".group")), chromedp.WaitVisible(chromedp.CSS(".history")))
	for _, scheme := range []string{"light", "dark"} {
		_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		tab.Expect(err).NotTo(HaveOccurred())
		tab.Expect(read[[]string](tab, faint)).To(BeEmpty(), scheme)
	}
}
