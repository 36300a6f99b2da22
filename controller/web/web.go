// Package web is a page that shows who owns which targets, live: groups,
// clusters and targets with their health, and what happened to them. It only
// reads, and needs nothing but the table and the load balancer.
//
// However many people watch, there is one survey at a time, at most one each
// [Refresh], and none while nobody watches.
package web

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"time"

	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/history"
)

//go:embed page
var files embed.FS

// Source is what the page shows.
type Source struct {
	Table   admin.Table
	Lister  admin.Lister
	History history.Reader
	Place   admin.Place
	Version string // of this program
	// Refresh is how often is read at most; 0 means [Refresh].
	Refresh time.Duration
}

// view answers what the page asks for.
type view struct {
	watch *watch
	past  *past
}

// New returns a handler that reads until ctx ends, and is safe for concurrent
// use. The page and all it asks for
// are below the path that the handler is mounted on, with the path stripped.
// hosts are names under which browsers may ask for it, beside IP addresses
// and localhost.
func New(ctx context.Context, source Source, hosts ...string) http.Handler {
	source.Refresh = cmp.Or(source.Refresh, Refresh)
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the directory is part of this program
	}
	v := &view{watch: newWatch(ctx, source), past: newPast(ctx, source.History, source.Refresh)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /site.json", v.site)
	mux.HandleFunc("GET /history.json", v.history)
	mux.Handle("GET /", http.FileServerFS(page))
	return guard(mux, hosts)
}

// site answers with the last survey.
func (v *view) site(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	answer(w, r, v.watch.last(ctx))
}

// history answers with what happened in a group that the last survey has.
func (v *view) history(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	group, known := v.watch.last(ctx).group(r.FormValue("group"))
	if !known {
		http.Error(w, "group: no record names such a target group", http.StatusNotFound)
		return
	}
	answer(w, r, v.past.of(ctx, group))
}

func answer(w http.ResponseWriter, r *http.Request, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // whoever asked has gone
	}
}
