//! `PiMutex`: while a thread of a high priority waits, the owner runs with that priority. For realtime threads;
//! Linux and Android.

#[cfg(any(target_os = "linux", target_os = "android"))]
fn main() {
    static SETPOINT: ondeck::PiMutex<f64> = ondeck::PiMutex::new(20.0);

    // A program gives its control thread a realtime policy; here both threads are ordinary ones.
    let control = std::thread::spawn(|| println!("controls to {}", SETPOINT.lock()));
    *SETPOINT.lock() = 21.5;
    control.join().expect("no panic");
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn main() {
    println!("the kernel of this system has no mutex that inherits priorities");
}
