//! The one call to the system that a hook needs and Rust has no safe name for.

use std::ffi::c_uint;

#[expect(unsafe_code, reason = "a function of the C library has to be named")]
unsafe extern "C" {
    /// Sends SIGALRM to this process after so many seconds; 0 takes back what was asked for.
    safe fn alarm(seconds: c_uint) -> c_uint;
}

/// Has SIGALRM sent to this process after so many seconds.
pub(super) fn ask_for_alarm(seconds: c_uint) {
    alarm(seconds);
}
