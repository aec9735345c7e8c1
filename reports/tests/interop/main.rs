//! What others make of the formats: OpenSSL, jq and coreutils; OpenSSH.

mod openssh;
mod openssl;
mod tools;
