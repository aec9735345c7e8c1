//! The mutants: the reference with one defence left out or done wrongly. What breaks is in `reference-impl/mutants`;
//! which checks must catch each one is said by the checks.
//!
//! `sources.txt` says which of them stand for what was reported. What breaks nothing that a check could see, and why: no
//! mutants, so that nobody adds them again.
//!
//! * `Content-Length` twice or beside `Transfer-Encoding`, and other transfer codings: hyper refuses them as well.
//! * Lenient chunk sizes: no attempt sends a malformed chunk, and hyper refuses most.
//! * `Keep-Alive` upstream: `Connection` names it, so that it stays behind for two reasons.
//! * The bearer beside the key upstream: the provider refuses two credentials, and everything fails.
//! * Request bodies that are collected: nothing can be cancelled in the middle of them, which is inconclusive.
//! * The other subsets of the capability sets: what is permitted or effective survives an exec only by way of the
//!   ambient set, which the kernel keeps within the permitted and the inheritable one.
//! * One capability that is kept: the sets are compared with none at all, so that it is seen as all of them are.
//! * A uid map of several users: an ordinary user may map itself alone.
//! * A launcher that stays root: it cannot enter the user's workspace, and nothing runs.
//! * The sockets of provider and instance exchanged, a wrong port or no leg for one of them: no call through it works.

/// One broken reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What it is called: by checks, on the command line, and by the program that is broken in this way.
    pub slug: &'static str,
    /// What an engineer might get wrong.
    pub sentence: &'static str,
    /// Mutants whose damage this one does as well: what catches them catches it.
    pub implies: &'static [&'static str],
    /// The launcher is started as the world's root.
    pub as_root: bool,
    /// Only where the harness has the machine's root: an ordinary user's world lacks what it needs.
    pub roots_only: bool,
    /// A launch of it takes the host's ports, so that no second one can be beside it.
    pub one_at_a_time: bool,
    pub takes: Takes,
    /// No check names it: it is caught as what it implies, and is there for an attempt that sees only it.
    pub second_order: bool,
}

/// How long a mutant takes, most of which it waits: in this order they are begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Some attempt on it waits as long as it may.
    Deadlines,
    /// What is left of it is waited for, or every port is tried.
    Seconds,
    Moments,
}

const fn mutant(slug: &'static str, sentence: &'static str) -> Mutant {
    Mutant {
        slug,
        sentence,
        implies: &[],
        as_root: false,
        roots_only: false,
        one_at_a_time: false,
        takes: Takes::Moments,
        second_order: false,
    }
}

impl Mutant {
    const fn implies(mut self, implies: &'static [&'static str]) -> Self {
        self.implies = implies;
        self
    }

    /// In an ordinary user's world nobody can become somebody else, so that this needs the machine's root.
    const fn as_root(mut self) -> Self {
        self.as_root = true;
        self.roots_only()
    }

    const fn roots_only(mut self) -> Self {
        self.roots_only = true;
        self
    }

    const fn slow(mut self) -> Self {
        self.takes = Takes::Seconds;
        self
    }

    const fn slowest(mut self) -> Self {
        self.takes = Takes::Deadlines;
        self
    }

    const fn second_order(mut self) -> Self {
        self.second_order = true;
        self
    }

    const fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }

    /// Whether it can be run where the harness is the machine's root, or an ordinary user.
    pub fn runs(&self, by_root: bool) -> bool {
        by_root || !self.roots_only
    }

    /// The mutant with this slug.
    pub fn named(slug: &str) -> Option<&'static Self> {
        MUTANTS.iter().find(|mutant| mutant.slug == slug)
    }
}

/// Every mutant, by area.
pub static MUTANTS: &[Mutant] = &[
    // Network.
    mutant("share-network", "No network namespace is made, and nothing stops.")
        .implies(&["go-on-after-failure"])
        .one_at_a_time()
        .slow(),
    mutant("open-a-third-port", "A debugger's port is left open in the sandbox.").slow(),
    mutant("add-link", "A link beside loopback is left up in the sandbox."),
    mutant("add-default-route", "A default route leads out of the sandbox, to a link that carries nothing.")
        .implies(&["add-link"])
        .second_order(),
    mutant("leak-ssh", "The stack behind the sandbox lets TCP to port 22 through.").implies(&["add-link"]),
    mutant("leak-http", "It lets TCP to port 80 through.").implies(&["add-link"]),
    mutant("leak-https", "It lets TCP to port 443 through.").implies(&["add-link"]),
    mutant("leak-tcp-v6", "Its TCP rules are for IPv4 only.").implies(&["add-link"]),
    mutant("leak-mptcp", "It does not know Multipath TCP for TCP.").implies(&["add-link"]),
    mutant("leak-ntp", "It lets clocks be set: UDP to port 123.").implies(&["add-link"]),
    mutant("leak-quic", "It stops TCP to port 443 and not QUIC.").implies(&["add-link"]),
    mutant("leak-udp-v6", "Its UDP rules are for IPv4 only.").implies(&["add-link"]),
    mutant("leak-ping-v4", "It answers for ICMP echo by sending it on.").implies(&["add-link"]),
    mutant("leak-ping-v6", "The same with ICMPv6.").implies(&["add-link"]),
    mutant("leak-raw", "It tunnels what it does not know, and the workload keeps the capability to make it.")
        .implies(&["add-link", "keep-ambient-set"]),
    mutant("leak-dns-udp", "DNS is let through to any server.").implies(&["add-link"]),
    mutant("leak-dns-tcp", "DNS over TCP is let through to any server.").implies(&["add-link"]),
    mutant("leak-resolver", "The configured resolver is reached.").implies(&["add-link"]),
    mutant("leak-dns-over-tls", "DNS over TLS is let through.").implies(&["add-link"]),
    mutant("leak-dns-over-quic", "DNS over QUIC is let through.").implies(&["add-link"]),
    mutant("leak-nbns", "NetBIOS name queries are let through.").implies(&["add-link"]),
    mutant("leak-multicast", "Multicast name services of the local network are reached.").implies(&["add-link"]),
    mutant("leak-metadata-v4", "The link-local metadata address is let through.").implies(&["add-link"]),
    mutant("leak-metadata-v6", "Its IPv6 address is let through.").implies(&["add-link"]),
    mutant("leak-wire-server", "Azure's wire server is let through.").implies(&["add-link"]),
    mutant("leak-alibaba", "Alibaba's metadata address is let through.").implies(&["add-link"]),
    mutant("leak-host-interface", "The host's own address is let through.").implies(&["add-link"]),
    mutant("leak-relay-port", "The rule for the relay's port forgets its address.").implies(&["add-link"]),
    mutant("leak-provider-address", "The provider's own address is let through, for the agent to ask it directly.")
        .implies(&["add-link"]),
    mutant("leak-instance-address", "So is the instance's.").implies(&["add-link"]),
    mutant("leak-private-v4", "Private networks count as harmless.").implies(&["add-link"]),
    mutant("leak-shared-v4", "The shared address space counts as private.").implies(&["add-link"]),
    mutant("leak-unique-local-v6", "Unique local addresses count as harmless.").implies(&["add-link"]),
    mutant("leak-first-packets", "The rules are loaded a moment after the workload's start.").implies(&["add-link"]),
    mutant("forward-host-tcp-v4", "The ports of the host's loopback are forwarded into the sandbox.")
        .implies(&["open-a-third-port"]),
    mutant("forward-host-tcp-v6", "The same over IPv6.").implies(&["open-a-third-port"]),
    mutant("forward-host-udp", "UDP ports of the host's loopback are forwarded into the sandbox."),
    mutant("forward-loopback-dns", "The host's resolver on loopback is forwarded into the sandbox."),
    mutant("forward-abstract-sockets", "The host's abstract sockets are forwarded into the sandbox, as for X11."),
    mutant("inherit-descriptors", "Open descriptors of the launcher pass to the workload."),
    mutant("allow-all-families", "The system call filter knows nothing of socket families."),
    mutant("compare-family-as-64-bits", "The filter compares all 64 bits of an argument of which the kernel takes 32."),
    // Files that are sockets.
    mutant("share-tmp", "The host's /tmp is visible."),
    mutant("share-run", "The host's /run is visible."),
    mutant("share-home", "The user's home is visible."),
    mutant("share-dev", "The host's /dev is visible, with its shared memory."),
    // Privileges.
    mutant("keep-bounding-set", "The bounding set is not cleared."),
    mutant("keep-inheritable-set", "The inheritable set is not cleared."),
    mutant("keep-bounding-and-inheritable-sets", "Only the sets in force are cleared."),
    mutant("keep-ambient-set", "Ambient capabilities are not cleared, so every set survives the start."),
    mutant("keep-all-sets", "No capability is dropped.").implies(&["keep-ambient-set"]).second_order(),
    mutant("keep-ambient-set-and-mounts", "No capability is dropped and no mount call filtered.")
        .implies(&["keep-ambient-set"]),
    mutant("share-network-and-user-namespaces", "No network namespace, and user namespaces can be made.")
        .implies(&["share-network", "allow-user-namespaces"])
        .one_at_a_time(),
    mutant("allow-new-privs", "no_new_privs is not set."),
    mutant("allow-new-privs-and-setuid", "no_new_privs is not set and set-user-id programs count.")
        .implies(&["allow-new-privs"])
        .second_order(),
    mutant("allow-unshare", "Nothing stops unshare from making a user namespace."),
    mutant("allow-clone3", "Filters see no flags of clone3, and it is let through."),
    mutant("allow-user-namespaces", "Nothing stops a user namespace.")
        .implies(&["allow-unshare", "allow-clone3"])
        .second_order(),
    mutant("become-another-user", "Started as root, the launcher becomes somebody else.")
        .implies(&["choose-a-user", "no-cleanup"])
        .as_root()
        .slow(),
    // The provider's relay: who may ask.
    mutant("accept-any-bearer", "Any credential will do."),
    mutant("accept-no-bearer", "A request without a credential is let through."),
    mutant("compare-length-only", "The bearer's length is compared."),
    mutant("compare-up-to-the-shorter", "The comparison stops where the given bearer ends."),
    mutant("compare-up-to-the-expected", "The comparison stops where the right bearer ends."),
    mutant("compare-first-half", "A hash of the beginning is compared."),
    mutant("compare-last-half", "A hash of the end is compared."),
    mutant("accept-any-scheme", "The scheme is split off and thrown away."),
    mutant("accept-a-bare-token", "The scheme may be left out."),
    mutant("drop-what-is-not-ascii", "Lengths are counted in characters."),
    mutant("accept-empty-bearer", "An empty credential is let through."),
    mutant("accept-api-key-header", "The token is taken from x-api-key as well."),
    mutant("accept-proxy-authorization", "It is taken from Proxy-Authorization as well."),
    mutant("take-first-authorization", "Of two credentials the first counts."),
    mutant("take-last-authorization", "Of two credentials the last counts."),
    mutant("constant-bearer", "Every spawn has the same bearer."),
    mutant("forward-header-x-api-key", "Another credential of the client goes upstream."),
    mutant("key-in-environment", "The key is passed in the environment."),
    mutant("key-in-argument", "The key is passed as an argument."),
    mutant("key-in-config", "The key is written to a configuration file of the workspace."),
    mutant("key-file-in-view", "The key's file is visible, with the home that it is in.").implies(&["share-home"]),
    // What for.
    mutant("accept-any-method", "The provider's relay looks at paths alone."),
    mutant("accept-either-method", "It lets GET and POST pass for both routes."),
    mutant("accept-method-in-lower-case", "It compares methods without case."),
    mutant("accept-any-path", "It looks at methods alone.").slowest(),
    mutant("accept-path-prefix", "It compares the beginning of the path."),
    mutant("accept-without-base", "It takes the route below no base as well."),
    mutant("accept-query", "It cuts queries off and lets them pass."),
    mutant("accept-encoded-slash", "It decodes %2f before it judges."),
    mutant("accept-encoded-backslash", "It takes %5c for a slash."),
    mutant("accept-encoded-dot", "It decodes %2e and resolves dot segments before it judges."),
    mutant("resolve-dot-segments", "It resolves dot segments before it judges."),
    mutant("accept-backslash", "It takes a backslash for a slash, as browsers do."),
    mutant("merge-slashes", "It merges slashes before it judges."),
    mutant("accept-absolute-form", "An absolute-form target decides where a request goes."),
    mutant("join-target-to-origin", "A target of two slashes is joined to the origin as a URL."),
    mutant("accept-upgrade", "The instance's relay hands a request with Upgrade on."),
    mutant("forward-upgrade", "Upgrade and 101 are handed on."),
    mutant("forward-switching-protocols", "A 101 of the origin is handed on."),
    mutant("judge-first-request-only", "Only the first request of a connection is judged."),
    mutant("tunnel-connect", "CONNECT opens a tunnel.").slowest(),
    mutant("resolve-before-refusing", "A name is looked up before it is refused."),
    mutant("resolve-host", "The name in Host is looked up."),
    mutant("accept-bare-line-feeds", "A line may end in LF alone."),
    // Where to, and with what.
    mutant("route-by-host", "The Host header decides where a request goes."),
    mutant("forward-host", "The client's Host goes upstream."),
    mutant("follow-redirects", "The relay follows redirects, as HTTP clients do."),
    mutant("normalise-path", "The instance's paths are tidied."),
    mutant("decode-path", "Percent-encoding of paths is undone."),
    mutant("drop-query", "Queries are dropped."),
    mutant("merge-upstream-slashes", "Double slashes of paths are merged."),
    mutant("send-twice", "A request is sent again, whatever became of it."),
    mutant("forward-named-by-connection", "What Connection names goes upstream."),
    mutant("forward-header-proxy-authorization", "Proxy-Authorization goes upstream."),
    mutant("forward-header-proxy-connection", "Proxy-Connection goes upstream."),
    mutant("forward-header-proxy-authenticate", "Proxy-Authenticate goes upstream."),
    mutant("forward-header-te", "TE goes upstream."),
    mutant("forward-header-forwarded", "Forwarded goes upstream."),
    mutant("forward-header-x-forwarded-for", "X-Forwarded-For goes upstream."),
    mutant("forward-header-x-forwarded-host", "X-Forwarded-Host goes upstream."),
    mutant("forward-header-x-forwarded-proto", "X-Forwarded-Proto goes upstream."),
    mutant("forward-header-x-real-ip", "X-Real-IP goes upstream."),
    mutant("forward-header-via", "Via goes upstream."),
    mutant("add-credential-to-instance", "The instance's relay adds a credential of its own."),
    mutant("drop-instance-credential", "The instance's relay drops the client's credential."),
    // Streams and life.
    mutant("collect-response", "A response is collected before it is sent on.").slowest(),
    mutant("end-cut-response-normally", "A cut response is ended as if it were whole."),
    mutant("hang-on-cut-response", "A cut response is left open.").slowest(),
    mutant("keep-upstream-on-hangup", "A client that goes leaves its upstream connection behind.").slow(),
    mutant("drop-half-closed", "The relay drops a client that ends its side."),
    mutant("end-on-half-close", "The bridge takes the end of one direction for the end of both."),
    mutant("mistake-close-for-half-close", "The bridge passes a close and a reset on as a half-close.").slow(),
    mutant("keep-client-on-upstream-end", "The bridge does not pass the relay's hang-up on.").slowest(),
    mutant(
        "relays-outlive-launcher",
        "The relays are a process that nobody ends, and a client that goes takes nothing along.",
    )
    .implies(&["orphans-survive", "keep-upstream-on-hangup"])
    .slow(),
    // Sockets.
    mutant("socket-mode-open", "The relays' sockets are open to everybody."),
    mutant("socket-mode-after-listen", "The sockets are narrowed once they listen."),
    mutant("directory-mode-open", "Their directory is open to everybody."),
    mutant("keep-listening-after-failure", "A launch that fails leaves its listener behind.").slow(),
    // Launches.
    mutant("keep-environment", "The launcher's environment passes whole."),
    mutant("home-is-workspace", "HOME is the workspace."),
    mutant("keep-home", "HOME stays the user's own, writable for every spawn.").implies(&["share-home"]),
    mutant("keep-temporary", "/tmp is the host's, the same for every spawn.").implies(&["share-tmp"]),
    mutant("default-instance", "Without an instance the launch takes a default one."),
    mutant("go-on-after-failure", "What cannot be set up is left out, with a warning."),
    mutant("start-without-provider", "Without a provider the launch takes a default one."),
    mutant("honour-shared-network", "An option asks for the host's network and is accepted."),
    mutant("accept-provider-query", "A query in the provider's URL is cut off."),
    mutant("accept-provider-credentials", "Credentials in the provider's URL are cut off."),
    mutant("accept-instance-path", "A path in the instance's URL is cut off."),
    mutant("accept-open-key-file", "The mode of a key file is put right without a word."),
    mutant("accept-linked-key-file", "A link to a key file is followed."),
    mutant("accept-key-in-workspace", "A key file in the workspace is copied away and used."),
    mutant("choose-a-user", "Started as root without a user, the launcher takes one.").roots_only(),
    mutant("pass-over-unknown-options", "An option that the launcher does not know is passed over."),
    mutant("go-on-without-a-key-file", "A key file that is not there is taken for an empty one."),
    mutant("replace-malformed-provider", "A provider's URL that is none gives way to a default."),
    mutant("always-exit-zero", "The workload's status does not come out."),
    // Ends.
    mutant("orphans-survive", "A helper of the launch outlives it.").slow(),
    mutant("outlive-launcher", "Nobody ends the sandbox when the launcher is killed.").slow(),
    mutant("share-pid", "No pid namespace is made: what leaves its parent stays.").slow(),
    mutant("swallow-signals", "The launcher ignores SIGTERM.").slowest(),
    mutant("watch-launcher-late", "A helper ties itself to the launcher a moment after its start.").slow(),
    mutant("name-the-network-namespace", "The network namespace is given a name and keeps it.")
        .implies(&["no-cleanup"])
        .as_root()
        .slow(),
    mutant("leave-a-link", "A link of the launch is left in the host's network.").as_root().slow(),
    mutant("cleanup-at-exit-only", "A directory of the launch is removed where it ends by itself.").slow(),
    mutant("no-cleanup", "A directory of the launch is never removed.").implies(&["cleanup-at-exit-only"]).slow(),
    // What is hidden beyond the network.
    mutant("share-ipc", "No IPC namespace is made."),
    mutant("share-uts", "No UTS namespace is made."),
    mutant("share-cgroup", "No cgroup namespace is made."),
    mutant("show-host-sockets", "Sockets in directories that stay visible are not hidden."),
    mutant("allow-keyrings", "The system call filter knows nothing of keyrings."),
    mutant("keep-session-keyring", "The launcher's session keyring is inherited, and nothing is filtered.")
        .implies(&["allow-keyrings"]),
    mutant("traceable-init", "The sandbox's first process can be seen and traced."),
    mutant("keep-session", "The workload stays in its launcher's session."),
    mutant("share-devices", "The host's /dev is visible, and its devices can be opened.").implies(&["share-dev"]),
    mutant("share-sys", "The host's /sys is visible and not read-only."),
    mutant("allow-io-uring", "The system call filter knows nothing of io_uring."),
    mutant("allow-kernel-interfaces", "The system call filter knows nothing of seldom used interfaces."),
];
