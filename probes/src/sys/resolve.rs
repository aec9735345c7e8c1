//! The C library's resolver.

use std::{ffi::CString, net::IpAddr, ptr};

use super::socket::Address;

/// What `getaddrinfo` says of a name: its addresses, or the `EAI_*` code with the errno behind `EAI_SYSTEM`.
pub fn addresses(name: &str) -> Result<Vec<IpAddr>, (i32, i32)> {
    let name = CString::new(name).map_err(|_| (libc::EAI_NONAME, 0))?;
    let mut list = ptr::null_mut();
    // SAFETY: the name is NUL-terminated, service and hints may be null, and `list` is a valid place for the answer.
    let code = unsafe { libc::getaddrinfo(name.as_ptr(), ptr::null(), ptr::null(), &mut list) };
    if code != 0 {
        let errno =
            if code == libc::EAI_SYSTEM { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
        return Err((code, errno));
    }
    let mut found = Vec::new();
    let mut entry = list;
    // SAFETY: the list is the C library's, is walked to its null end, and every address in it is `ai_addrlen` bytes long.
    unsafe {
        while let Some(info) = entry.as_ref() {
            let bytes = std::slice::from_raw_parts(info.ai_addr.cast::<u8>(), info.ai_addrlen as usize);
            found.extend(Address::from_bytes(bytes).to_socket_addr().map(|address| address.ip()));
            entry = info.ai_next;
        }
        libc::freeaddrinfo(list);
    }
    found.dedup();
    Ok(found)
}
