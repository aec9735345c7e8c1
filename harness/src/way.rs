//! How the workload reaches what it may reach: by our relays, by a proxy of the target's own, or directly.

use serde::{Deserialize, Serialize};
use watertight_probe::plan::{Carry, Proxy, ProxyAt};

/// How the workload reaches what it may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// By our relays, at loopback ports of the bridge.
    #[default]
    Relays,
    /// By a proxy of the target's own.
    Proxy(Proxies),
    /// At the instance's own address.
    Direct,
}

impl Way {
    pub fn is_relays(&self) -> bool {
        *self == Self::Relays
    }

    /// Each kind of use of the target's own proxy, in a fixed order.
    pub fn proxies(&self) -> Vec<Proxy> {
        match self {
            Self::Proxy(proxies) => proxies.all(),
            Self::Relays | Self::Direct => vec![],
        }
    }
}

/// What a proxy of the target's own understands, and where it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxies {
    /// HTTP CONNECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<ProxyAt>,
    /// HTTP requests in absolute-form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<ProxyAt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socks5: Option<ProxyAt>,
}

impl Proxies {
    fn all(&self) -> Vec<Proxy> {
        let each = [(Carry::Connect, self.connect), (Carry::Absolute, self.absolute), (Carry::Socks5, self.socks5)];
        each.into_iter().filter_map(|(by, at)| Some(Proxy { at: at?, by })).collect()
    }

    /// The use that gives a tunnel.
    pub fn tunnel(&self) -> Option<Proxy> {
        self.all().into_iter().find(|proxy| proxy.by != Carry::Absolute)
    }
}

/// Its name in the names of attempts.
pub fn by(carry: Carry) -> &'static str {
    match carry {
        Carry::Connect => "connect",
        Carry::Absolute => "absolute-form",
        Carry::Socks5 => "socks5",
    }
}
