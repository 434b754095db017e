//! The random numbers that the standard library's tests ask for.

pub trait Rng {
    fn random_bool(&mut self, likelihood: f64) -> bool;
}

pub struct Random(fastrand::Rng);

impl Rng for Random {
    fn random_bool(&mut self, likelihood: f64) -> bool {
        self.0.f64() < likelihood
    }
}

pub fn test_rng() -> Random {
    Random(fastrand::Rng::with_seed(1))
}
