//! macOS: takes the socket that launchd opened for us under the name `Listener`.
#![expect(unsafe_code, reason = "launchd hands descriptors over through a C call only")]

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::FromRawFd as _;
use std::os::unix::net::UnixListener;

unsafe extern "C" {
    fn launch_activate_socket(
        name: *const c_char,
        fds: *mut *mut c_int,
        count: *mut usize,
    ) -> c_int;
    fn free(pointer: *mut c_void);
}

/// Returns the activated socket, or `None` when launchd did not start us or names no such socket.
pub(super) fn activated_listener() -> Option<UnixListener> {
    let mut fds: *mut c_int = std::ptr::null_mut();
    let mut n_fds: usize = 0;
    // SAFETY: the name is a NUL-terminated constant, and both out-pointers live across the call.
    let failed = unsafe { launch_activate_socket(c"Listener".as_ptr(), &mut fds, &mut n_fds) };
    if failed != 0 || fds.is_null() {
        return None;
    }
    // SAFETY: on success the array holds `n_fds` descriptors; the first is ours alone from here on.
    let listener = (0 < n_fds).then(|| unsafe { UnixListener::from_raw_fd(*fds) });
    // SAFETY: launchd allocates the array with malloc and leaves freeing it to the caller.
    unsafe { free(fds.cast()) };
    listener
}
