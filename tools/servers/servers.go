// Package servers runs the web servers and object stores that tables are read from in the tests of
// "make test-servers": as they are packaged, with the configuration that a user would write, on
// free ports of the loopback address, in the foreground and in a folder of their own, until the
// test ends.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Missing says that a server is not installed, and how it is.
type Missing struct{ Program, Install string }

func (m *Missing) Error() string { return m.Program + " is not installed: " + m.Install }

// Find returns the path of a program: of the repository's .cache folder, or of the system.
func Find(cache, program, install string) (string, error) {
	for _, p := range []string{filepath.Join(cache, "bin", program), filepath.Join(cache, "servers", "node_modules", ".bin", program)} {
		if fi, err := os.Stat(p); err == nil && !fi.IsDir() {
			return filepath.Abs(p)
		}
	}
	if p, err := exec.LookPath(program); err == nil {
		return p, nil
	}
	for _, d := range []string{"/usr/sbin", "/usr/local/sbin"} { // not on the path of every user
		if fi, err := os.Stat(filepath.Join(d, program)); err == nil && !fi.IsDir() {
			return filepath.Join(d, program), nil
		}
	}
	return "", &Missing{program, install}
}

// FreePort returns a port of the loopback address that nobody listens on.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Process is a running server.
type Process struct {
	name string
	cmd  *exec.Cmd
	out  tail
	done chan struct{}
	err  error
}

// Start runs a program in a folder. Its output is kept for errors.
func Start(dir, program string, env []string, args ...string) (*Process, error) {
	p := &Process{name: filepath.Base(program), cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the server ends with the thread that started it
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Ready waits until the server answers at a URL with any status.
func (p *Process) Ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for {
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended: %v\n%s", p.name, p.err, p.Output())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %v\n%s", p.name, err, p.Output())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Output is the end of what the server has written.
func (p *Process) Output() string { return p.out.String() }

// Stop ends the server and its children, and waits for it.
func (p *Process) Stop() {
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		p.cmd.Process.Kill()
	}
	select {
	case <-p.done:
	case <-time.After(3 * time.Second):
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b.Len() > 64<<10 {
		t.b.Next(t.b.Len() - 32<<10)
	}
	return t.b.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.b.String()
	return s[max(0, len(s)-4000):]
}

// Server is a kind of web server with a configuration, which serves a folder.
type Server struct {
	// Name is that of the program and what is special about its configuration.
	Name string
	// Program must be there; Install says how it gets there.
	Program, Install string
	// Config returns the arguments of the program, to serve root on a port; files may be written to dir.
	Config func(program, dir, root string, port int) (args []string, err error)
	// HidesDots: names that begin with a dot are not listed. NoSizes, NoTimes: listings have rounded
	// or no sizes, no or coarse times of modification. NoRange: Range is ignored.
	HidesDots, NoSizes, NoTimes, NoRange bool
}

const debian = "apt-get install "

func file(dir, name, text string, args ...any) (string, error) {
	p := filepath.Join(dir, name)
	return p, os.WriteFile(p, fmt.Appendf(nil, text, args...), 0o644)
}

// nginx with what stands in its server block.
func nginx(block string) func(string, string, string, int) ([]string, error) {
	return func(_, dir, root string, port int) ([]string, error) {
		load := ""
		if strings.Contains(block, "dav_ext_methods") {
			load = "load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;\n"
		}
		user := ""
		if os.Getuid() == 0 {
			user = "user root;\n" // the test's folders are readable to their owner only
		}
		conf, err := file(dir, "nginx.conf", `%s%sdaemon off;
pid %[3]s/nginx.pid;
error_log stderr;
worker_processes 1;
events { worker_connections 64; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off;
  client_body_temp_path %[3]s/body; proxy_temp_path %[3]s/proxy; fastcgi_temp_path %[3]s/fastcgi; uwsgi_temp_path %[3]s/uwsgi; scgi_temp_path %[3]s/scgi;
  server {
    listen 127.0.0.1:%[4]d;
    root %[5]s;
    %[6]s
  }
}
`, load, user, dir, port, root, block)
		return []string{"-p", dir, "-e", "stderr", "-c", conf}, err
	}
}

// apache with what stands in the folder's block; below is outside of it.
func apache(folder, below string) func(string, string, string, int) ([]string, error) {
	return func(_, dir, root string, port int) ([]string, error) {
		const mods = "/usr/lib/apache2/modules"
		if err := os.MkdirAll(filepath.Join(dir, "dav"), 0o777); err != nil {
			return nil, err
		}
		user := ""
		if os.Getuid() == 0 {
			// It refuses to run its workers as root; they must be able to read the folders.
			user = "User www-data\nGroup www-data\n"
		}
		conf, err := file(dir, "apache.conf", `ServerName localhost
%[1]sListen 127.0.0.1:%[2]d
PidFile %[3]s/apache.pid
ErrorLog /dev/stderr
Mutex file:%[3]s default
LoadModule mpm_event_module %[4]s/mod_mpm_event.so
LoadModule authz_core_module %[4]s/mod_authz_core.so
LoadModule authz_host_module %[4]s/mod_authz_host.so
LoadModule autoindex_module %[4]s/mod_autoindex.so
LoadModule dir_module %[4]s/mod_dir.so
LoadModule mime_module %[4]s/mod_mime.so
LoadModule deflate_module %[4]s/mod_deflate.so
LoadModule filter_module %[4]s/mod_filter.so
LoadModule dav_module %[4]s/mod_dav.so
LoadModule dav_fs_module %[4]s/mod_dav_fs.so
TypesConfig /etc/mime.types
DavLockDB %[3]s/dav/lock
DocumentRoot %[5]s
<Directory %[5]s>
  Require all granted
  AllowOverride None
  %[6]s
</Directory>
%[7]s
`, user, port, dir, mods, root, folder, below)
		return []string{"-d", dir, "-f", conf, "-DFOREGROUND"}, err
	}
}

func lighttpd(more string) func(string, string, string, int) ([]string, error) {
	return func(_, dir, root string, port int) ([]string, error) {
		conf, err := file(dir, "lighttpd.conf", `server.document-root = "%s"
server.bind = "127.0.0.1"
server.port = %d
server.modules = ( "mod_dirlisting", "mod_webdav", "mod_deflate" )
mimetype.assign = ( "" => "application/octet-stream" )
%s
`, root, port, more)
		return []string{"-D", "-f", conf}, err
	}
}

func caddy(directives string) func(string, string, string, int) ([]string, error) {
	return func(_, dir, root string, port int) ([]string, error) {
		conf, err := file(dir, "Caddyfile", `{
	admin off
	auto_https off
	storage file_system %[1]s/storage
}
http://127.0.0.1:%[2]d {
	bind 127.0.0.1
	root * %[3]s
	%[4]s
}
`, dir, port, root, directives)
		return []string{"run", "--adapter", "caddyfile", "--config", conf}, err
	}
}

// debianIndex is what Debian's autoindex.conf says about names; it hides those with a dot.
const debianIndex = "IndexOptions FancyIndexing VersionSort HTMLTable NameWidth=* DescriptionWidth=* Charset=UTF-8\n  IndexIgnore .??* *~ *# RCS CVS *,v *,t"

// Web are the web servers.
var Web = []Server{
	{Name: "nginx-html", Program: "nginx", Install: debian + "nginx-light", HidesDots: true,
		Config: nginx("autoindex on; location / { add_header Cache-Control no-store; }")},
	{Name: "nginx-json-gzip", Program: "nginx", Install: debian + "nginx-light", HidesDots: true,
		// Compression of everything: of listings it is right, of ranges of files it would be wrong.
		Config: nginx("autoindex on; autoindex_format json; gzip on; gzip_min_length 1; gzip_proxied any; gzip_types *;")},
	{Name: "nginx-xml", Program: "nginx", Install: debian + "nginx-light", HidesDots: true,
		Config: nginx("autoindex on; autoindex_format xml;")},
	{Name: "nginx-webdav", Program: "nginx", Install: debian + "nginx-light libnginx-mod-http-dav-ext", HidesDots: true,
		Config: nginx("dav_ext_methods PROPFIND OPTIONS;")},
	{Name: "apache-debian", Program: "apache2", Install: debian + "apache2", HidesDots: true, NoSizes: true, NoTimes: true,
		Config: apache("Options +Indexes\n  "+debianIndex, "")},
	{Name: "apache-plain", Program: "apache2", Install: debian + "apache2", NoSizes: true, NoTimes: true,
		Config: apache("Options +Indexes\n  IndexIgnoreReset ON", "")},
	{Name: "apache-deflate", Program: "apache2", Install: debian + "apache2", NoSizes: true, NoTimes: true,
		Config: apache("Options +Indexes\n  IndexIgnoreReset ON\n  IndexOptions FancyIndexing\n  SetOutputFilter DEFLATE", "")},
	{Name: "apache-webdav", Program: "apache2", Install: debian + "apache2",
		Config: apache("Dav On", "")},
	{Name: "lighttpd", Program: "lighttpd", Install: debian + "lighttpd", HidesDots: true, NoSizes: true, NoTimes: true,
		Config: lighttpd(`dir-listing.activate = "enable"`)},
	{Name: "lighttpd-dotfiles", Program: "lighttpd", Install: debian + "lighttpd", NoSizes: true, NoTimes: true,
		Config: lighttpd("dir-listing.activate = \"enable\"\ndir-listing.hide-dotfiles = \"disable\"\ndeflate.mimetypes = ( \"\" )\ndeflate.allowed-encodings = ( \"gzip\" )")},
	{Name: "lighttpd-webdav", Program: "lighttpd", Install: debian + "lighttpd lighttpd-mod-webdav",
		Config: lighttpd("webdav.activate = \"enable\"\nwebdav.is-readonly = \"enable\"")},
	{Name: "caddy", Program: "caddy", Install: debian + "caddy",
		Config: caddy("encode gzip\n\tfile_server browse")},
	{Name: "python", Program: "python3", Install: debian + "python3", NoSizes: true, NoTimes: true, NoRange: true,
		Config: func(_, _, root string, port int) ([]string, error) {
			return []string{"-m", "http.server", "--bind", "127.0.0.1", "--directory", root, fmt.Sprint(port)}, nil
		}},
	{Name: "rclone-http", Program: "rclone", Install: debian + "rclone", NoTimes: true,
		Config: func(_, _, root string, port int) ([]string, error) {
			return []string{"serve", "http", root, "--addr", fmt.Sprintf("127.0.0.1:%d", port), "--config", "/dev/null"}, nil
		}},
	{Name: "rclone-webdav", Program: "rclone", Install: debian + "rclone",
		Config: func(_, _, root string, port int) ([]string, error) {
			return []string{"serve", "webdav", root, "--addr", fmt.Sprintf("127.0.0.1:%d", port), "--read-only", "--config", "/dev/null"}, nil
		}},
	{Name: "serve", Program: "serve", Install: "npm install serve", NoSizes: true, NoTimes: true,
		Config: func(_, dir, root string, port int) ([]string, error) {
			// It hides nothing but what it is told to; its default leaves .git and .DS_Store out.
			return []string{"--listen", fmt.Sprintf("tcp://127.0.0.1:%d", port), "--no-port-switching", "--no-request-logging", root}, nil
		}},
	{Name: "http-server", Program: "http-server", Install: "npm install http-server", NoSizes: true, NoTimes: true,
		Config: func(_, _, root string, port int) ([]string, error) {
			return []string{root, "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-s", "-c-1"}, nil
		}},
}

// Run starts a web server that serves root, and returns its URL without a slash at the end.
func (s *Server) Run(ctx context.Context, cache, dir, root string) (*Process, string, error) {
	program, err := Find(cache, s.Program, s.Install)
	if err != nil {
		return nil, "", err
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	args, err := s.Config(program, dir, root, port)
	if err != nil {
		return nil, "", err
	}
	p, err := Start(dir, program, nil, args...)
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := p.Ready(ctx, url+"/"); err != nil {
		p.Stop()
		return nil, "", err
	}
	return p, url, nil
}
