//! The one call to the system's allocator that Rust has no safe name for.

/// Gives memory that was freed back to the system, where the allocator would keep it.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use std::ffi::c_int;

    #[expect(unsafe_code, reason = "a function of the C library has to be named")]
    unsafe extern "C" {
        /// Never fails: it says whether anything was given back.
        safe fn malloc_trim(pad: usize) -> c_int;
    }

    pub(super) fn trim() {
        malloc_trim(0);
    }
}
