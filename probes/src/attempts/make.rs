//! From an attempt of the plan to the function that makes it.

use super::{
    change, datagram, descriptors, dns, exchange, files, linger, mcp, namespaces, net, network, outsiders, ports,
    privileges, proxy, raw, scan, unix,
};
use crate::{
    context::{Attempted, Context},
    plan::Attempt,
};

/// Makes one attempt, in the process that calls it.
pub fn make(context: &Context<'_>, attempt: &Attempt) -> Attempted {
    match attempt {
        Attempt::Connect { transport, to, source_port } => net::connect(context, *transport, *to, *source_port),
        Attempt::Proxied { proxy, to } => proxy::reach(context, proxy, to),
        Attempt::ProxyVariables => Ok(proxy::variables()),
        Attempt::Send { transport, to, call, source_port, dns } => {
            datagram::send(context, *transport, *to, *call, *source_port, dns.as_ref())
        }
        Attempt::DnsStream { to, query } => dns::over_stream(context, *to, query),
        Attempt::Resolve { zone } => dns::resolve(context, zone),
        Attempt::Ping { to, raw: true } => raw::ping(context, *to, raw::PingSocket::Raw),
        Attempt::Ping { to, raw: false } => raw::ping(context, *to, raw::PingSocket::Ping),
        Attempt::RawIp { to, protocol } => raw::packet(context, *to, *protocol),
        Attempt::Frame => raw::frames(context),
        Attempt::Unix { address, kind } => unix::connect(context, address, *kind),
        Attempt::Socket { family, kind, protocol } => net::make_socket(*family, *kind, *protocol),
        Attempt::Descriptors { reach } => descriptors::look(context, *reach),
        Attempt::Network => network::look(context),
        Attempt::ChangeNetwork { change } => change::make(context, change),
        Attempt::Privileges => privileges::look(context),
        Attempt::NewNamespaces { user, network, mount, by_clone3, reach } => {
            let wanted = namespaces::Wanted { user: *user, network: *network, mount: *mount, by_clone3: *by_clone3 };
            namespaces::make(context, wanted, *reach)
        }
        Attempt::Mount { over, new_api } => namespaces::mount(context, over, *new_api),
        Attempt::SetUserId { path } => privileges::set_user_id(context, path),
        Attempt::Read { path } => files::read(context, path),
        Attempt::Write { path } => files::write(context, path),
        Attempt::Append { path } => files::append(context, path),
        Attempt::Scan { needles, roots } => scan::look(context, needles, roots),
        Attempt::Exchange { to, steps } => exchange::run(context, to, steps),
        Attempt::Ports { of, from, to, known } => ports::look(context, *of, *from, *to, *known),
        Attempt::Mcp { instance } => mcp::talk(context, instance),
        Attempt::Linger { comm, holding } => linger::start(context, comm, holding.as_ref()),
        Attempt::Ipc { object } => outsiders::open_ipc(context, object),
        Attempt::Key { description } => outsiders::read_key(context, description),
        Attempt::Process { pid, access } => outsiders::process(context, *pid, *access),
        Attempt::Terminal { way } => outsiders::terminal(context, *way),
        Attempt::Open { path, read } => outsiders::open(context, path, *read),
        Attempt::Kernel { call } => outsiders::call(context, *call),
    }
}
