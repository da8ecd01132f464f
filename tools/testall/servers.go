package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// serverPrograms are the packages of Debian by the program that is looked for.
var serverPrograms = [][2]string{
	{"/usr/sbin/nginx", "nginx-light"}, {"/usr/lib/nginx/modules/ngx_http_dav_ext_module.so", "libnginx-mod-http-dav-ext"},
	{"/usr/sbin/apache2", "apache2"}, {"/usr/sbin/lighttpd", "lighttpd"}, {"/usr/lib/lighttpd/mod_webdav.so", "lighttpd-mod-webdav"},
	{"/usr/bin/caddy", "caddy"}, {"/usr/bin/rclone", "rclone"},
}

// storePrograms are built with go install into .cache/bin.
var storePrograms = [][2]string{
	{"versitygw", "github.com/versity/versitygw/cmd/versitygw@v1.8.0"},
	{"fake-gcs-server", "github.com/fsouza/fake-gcs-server@v1.56.1"},
}

// quickInstall is the time that installing servers may take within all tests. Where Go's caches are
// cold, building the stores takes several minutes; SERVERS=all (make test-servers) waits for it.
const quickInstall = 75 * time.Second

func servers(ctx context.Context, r *results) {
	install(ctx)
	if ctx.Err() != nil {
		return
	}
	r.check(ctx, "go vet -tags servers", command(ctx, "go", "vet", "-tags", "servers", "./tools/servers/..."))
	goTest(ctx, r, "", command(ctx, "go", "test", "-json", "-tags", "servers", "-timeout", "20m", "./tools/servers/"))
	if _, err := os.Stat(filepath.Join(".cache", "servers", "node_modules", "miniflare")); err != nil {
		r.skip("R2", "Miniflare is not installed: make test-servers")
		return
	}
	cmd := command(ctx, "node", "r2.test.mjs")
	cmd.Dir = "wasm/edge/test"
	out, err := cmd.CombinedOutput()
	r.script("R2", string(out), err)
}

// install gets the servers that are not there. What can't be had is named by the tests that need it.
func install(ctx context.Context) {
	if os.Getenv("SERVERS") != "all" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, quickInstall)
		defer cancel()
	}
	var wg sync.WaitGroup
	for what, f := range map[string]func(context.Context) error{"apt-get": installPackages, "go install": installStores, "npm ci": installNode} {
		wg.Go(func() {
			began := time.Now()
			switch err := f(ctx); {
			case errors.Is(ctx.Err(), context.DeadlineExceeded):
				fmt.Printf("   %s was ended after %s; make test-servers waits for it\n", what, time.Since(began).Round(time.Second))
			case err != nil:
				fmt.Printf("   %s: %v\n", what, err)
			}
		})
	}
	wg.Wait()
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, indent(string(out)))
	}
	return nil
}

// installPackages installs packages of Debian, without starting their services.
func installPackages(ctx context.Context) error {
	var missing []string
	for _, p := range serverPrograms {
		if _, err := os.Stat(p[0]); err != nil {
			missing = append(missing, p[1])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return errors.New("not installed: " + strings.Join(missing, " ") + " (needs root and apt-get)")
	}
	fmt.Println("   installing " + strings.Join(missing, " "))
	// Debian starts a service when it is installed, unless this file says no.
	const policy = "/usr/sbin/policy-rc.d"
	if _, err := os.Stat(policy); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(policy, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil {
			return err
		}
		defer os.Remove(policy)
	}
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-q", "-y", "--no-install-recommends"}, missing...)} {
		// Not ended with ctx: an interrupted installation leaves the packages broken.
		cmd := exec.Command("apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if err := run(cmd); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func installStores(ctx context.Context) error {
	dir, err := filepath.Abs(filepath.Join(".cache", "bin"))
	if err != nil {
		return err
	}
	for _, p := range storePrograms {
		_, version, _ := strings.Cut(p[1], "@")
		out, err := command(ctx, "go", "version", "-m", filepath.Join(dir, p[0])).Output()
		if err == nil && strings.Contains(string(out), "\t"+version+"\t") {
			continue
		}
		fmt.Println("   building " + p[1])
		cmd := command(ctx, "go", "install", p[1])
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOOS=", "GOARCH=")
		if err := run(cmd); err != nil {
			return err
		}
	}
	return nil
}

// installNode installs what tools/servers/package-lock.json pins into .cache/servers.
func installNode(ctx context.Context) error {
	dir := filepath.Join(".cache", "servers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var lock []byte
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("tools", "servers", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			return err
		}
		lock = b
	}
	stamp := filepath.Join(dir, "node_modules", ".installed-from")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(lock) {
		return nil
	}
	fmt.Println("   npm ci for tools/servers")
	cmd := command(ctx, "npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if err := run(cmd); err != nil {
		os.RemoveAll(filepath.Join(dir, "node_modules")) // a part of it would look like all
		return err
	}
	return os.WriteFile(stamp, lock, 0o644)
}
