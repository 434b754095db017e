//! Recognizes the C++ functions that belong to locks, those of libstdc++ and libc++.

use ondeck_text::functions::without_type;

/// Prefixes of functions that call C's, in `std` or outside of it.
const OF_C: [&str; 4] = ["__gthread_", "__glibcxx_rwlock_", "__glibcxx_timed", "__libcpp_"];

/// Classes and functions of the namespace `std`, up to the point where a name may continue.
const OF_STD: [&str; 18] = [
    "mutex::",
    "timed_mutex::",
    "recursive_mutex::",
    "recursive_timed_mutex::",
    "shared_mutex::",
    "shared_timed_mutex::",
    "__shared_mutex_",
    "__shared_timed_mutex_base",
    "__timed_mutex_impl<",
    "lock_guard<",
    "unique_lock<",
    "shared_lock<",
    "scoped_lock<",
    "condition_variable",
    "__condvar::",
    "lock<",
    "__unlock<",
    "__detail::__lock_impl<",
];

/// Namespaces within `std` that name a version of the library.
const VERSIONS: [&str; 4] = ["__1::", "__ndk1::", "_V2::", "__cxx11::"];

/// Returns whether a function, as named by the debugging information or a demangled symbol, belongs
/// to a lock.
pub fn is_of_lock(function: &str) -> bool {
    let name = without_type(function);
    let of_std = name.strip_prefix("std::").map(|mut inside| {
        while let Some(rest) = VERSIONS.iter().find_map(|version| inside.strip_prefix(version)) {
            inside = rest;
        }
        inside
    });
    let starts = |name: &str, with: &[&str]| with.iter().any(|start| name.starts_with(start));
    starts(of_std.unwrap_or(name), &OF_C)
        // The destructor of scoped_lock unlocks its mutexes by std::apply with a lambda.
        || of_std.is_some_and(|name| starts(name, &OF_STD) || name.contains("::~scoped_lock()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_locks_are_told_from_those_that_use_them() {
        for own in [
            "__gthread_mutex_unlock(pthread_mutex_t*)",
            "__gthread_mutex_unlock",
            "std::__glibcxx_rwlock_unlock(pthread_rwlock_t*)",
            "std::mutex::unlock()",
            "std::__1::mutex::lock()",
            "std::__shared_mutex_pthread::lock_shared()",
            "std::lock_guard<std::mutex>::~lock_guard()",
            "std::__ndk1::unique_lock<std::__ndk1::mutex>::~unique_lock()",
            "void std::lock<std::mutex, std::recursive_mutex, >(std::mutex&, std::recursive_mutex&, &)",
            "void std::condition_variable::wait<work()::{lambda()#1}>(std::unique_lock<std::mutex>&, work()::{lambda()#1})",
            "std::_V2::condition_variable_any::wait(std::unique_lock<std::mutex>&)",
            "auto std::scoped_lock<std::mutex, std::mutex>::~scoped_lock()::{lambda(auto:1&)#1}::operator()<std::mutex>(std::mutex&) const",
            "std::__invoke_result<std::scoped_lock<std::mutex>::~scoped_lock()::{lambda(auto:1&)#1}, std::mutex&>::type std::__invoke<std::scoped_lock<std::mutex>::~scoped_lock()::{lambda(auto:1&)#1}, std::mutex&>(std::scoped_lock<std::mutex>::~scoped_lock()::{lambda(auto:1&)#1}&&, std::mutex&)",
            "decltype(auto) std::__apply_impl<std::scoped_lock<std::mutex>::~scoped_lock()::{lambda(auto:1&...)#1}>(int)",
        ] {
            assert!(is_of_lock(own), "{own}");
        }
        for other in [
            "Counter::add()",
            "std::unique_lock<std::mutex> take<int>()",
            "work(std::lock_guard<std::mutex>&)",
            "void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other, main::{lambda()#1}&&)",
            "std::vector<std::mutex>::resize(unsigned long)",
            "std::lockfree::push()",
            "main::{lambda()#1}::operator()() const",
            "std::sync::poison::mutex::Mutex<T>::lock",
        ] {
            assert!(!is_of_lock(other), "{other}");
        }
    }
}
