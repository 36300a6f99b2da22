package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// headers keep the page to itself: it loads nothing from elsewhere, runs no
// script that is not its own file, and is shown in no other page.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// guard refuses what no page of ours asks for. A page of another site can have
// its own name resolve to our address (DNS rebinding), and would then be of
// the same origin. The name that the browser asked for gives it away.
func guard(next http.Handler, hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		switch {
		case !ours(r.Host, hosts):
			http.Error(w, "ask for this page by an IP address or as localhost, such as through kubectl port-forward", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this page only shows", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ours reports whether the Host header names this server, and cannot be the
// name of another site.
func ours(header string, hosts []string) bool {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	}
	if _, err := netip.ParseAddr(host); err == nil || strings.EqualFold(host, "localhost") {
		return true
	}
	return host != "" && slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
