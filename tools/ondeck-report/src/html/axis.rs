//! Axes: map values to a fraction of the plot, and place the ticks.

use ondeck_text::numbers::page as number;

/// A larger value is a mistake, and its products would overflow.
const SANE: f64 = 1e200;

/// One axis of a plot.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its quantity, with the unit.
    pub title: String,
    low: f64,
    high: f64,
    scale: Scale,
    format: fn(f64) -> String,
    /// The factor between the plot's values and the values that the ticks name.
    factor: f64,
}

#[derive(Clone, Debug)]
enum Scale {
    Linear,
    Decades,
    /// Logarithmic, with a tick at each of these values only.
    Doublings(Vec<f64>),
}

impl Axis {
    /// A linear axis from zero (or below, if a value is) to slightly above the greatest value.
    pub fn from_zero(values: impl Iterator<Item = f64>, title: impl Into<String>) -> Self {
        let (least, most) = extent(values).unwrap_or((0.0, 1.0));
        let high = if most > 0.0 { most * 1.04 } else { 1.0 };
        Self::between(least.min(0.0), high, title)
    }

    /// A linear axis with given ends.
    pub fn between(low: f64, high: f64, title: impl Into<String>) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let scale = Scale::Linear;
        Axis { title: title.into(), low, high, scale, format: number::plain, factor: 1.0 }
    }

    /// A logarithmic axis around the values above zero; others are at its low end.
    pub fn decades(
        values: impl Iterator<Item = f64>,
        title: impl Into<String>,
        format: fn(f64) -> String,
    ) -> Self {
        let (least, most) = extent(values.filter(|value| *value > 0.0)).unwrap_or((1.0, 10.0));
        let (mut low, mut high) = (least / 1.2, most * 1.2);
        // At least a decade, or small differences would look large.
        if high / low < 10.0 {
            let widen = (10.0 * low / high).sqrt();
            low /= widen;
            high *= widen;
        }
        Axis { title: title.into(), low, high, scale: Scale::Decades, format, factor: 1.0 }
    }

    /// A logarithmic axis of thread counts, which are its ticks.
    pub fn doublings(counts: &[usize], title: impl Into<String>) -> Self {
        let ticks: Vec<f64> = counts.iter().map(|count| (*count).max(1) as f64).collect();
        let (low, high) = extent(ticks.iter().copied()).unwrap_or((1.0, 1.0));
        let scale = Scale::Doublings(ticks);
        Axis { title: title.into(), low, high, scale, format: number::plain, factor: 1.0 }
    }

    /// The same axis with another format of its ticks.
    pub fn written(self, format: fn(f64) -> String) -> Self {
        Axis { format, ..self }
    }

    /// The same axis for values that have since been multiplied by a factor.
    pub fn scaled(self, factor: f64) -> Self {
        Axis { factor, ..self }
    }

    /// Whether a value exceeds the axis.
    pub fn is_beyond(&self, value: f64) -> bool {
        value.is_finite() && value / self.factor > self.high
    }

    /// The place of a value between the ends, 0 to 1; `None` if it has none.
    pub fn at(&self, value: f64) -> Option<f64> {
        self.place(value / self.factor)
    }

    fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let fraction = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            _ if value <= 0.0 => 0.0,
            _ if self.low >= self.high => 0.5,
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        fraction.is_finite().then(|| fraction.clamp(0.0, 1.0))
    }

    /// At most about `most` ticks: fraction of the axis and label.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.max(2);
        let values = match &self.scale {
            Scale::Linear => self.linear_ticks(most),
            Scale::Decades => self.decade_ticks(most),
            Scale::Doublings(ticks) => ticks.clone(),
        };
        let gap = 0.5 / most as f64;
        let mut out: Vec<(f64, String)> = Vec::new();
        for value in values {
            if let Some(place) = self.place(value)
                && out.last().is_none_or(|(last, _)| place - last >= gap)
            {
                out.push((place, (self.format)(value)));
            }
        }
        out
    }

    fn linear_ticks(&self, most: usize) -> Vec<f64> {
        let raw = (self.high - self.low) / most as f64;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * power)
            .find(|step| *step >= raw * 0.999)
            .unwrap_or(10.0 * power);
        let first = (self.low / step).ceil();
        (0..=most + 1)
            .map(|index| (first + index as f64) * step)
            .take_while(|value| *value <= self.high * (1.0 + 1e-9))
            .collect()
    }

    fn decade_ticks(&self, most: usize) -> Vec<f64> {
        let from = self.low.log10().floor() as i32;
        let to = self.high.log10().ceil() as i32;
        let inside = |value: &f64| (self.low..=self.high).contains(value);
        for nice in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0][..], &[1.0][..]] {
            let ticks: Vec<f64> = (from..=to)
                .flat_map(|power| nice.iter().map(move |nice| nice * 10f64.powi(power)))
                .filter(inside)
                .collect();
            if ticks.len() <= most {
                return ticks;
            }
        }
        let every = ((to - from) as usize / most + 1).max(1);
        (from..=to).step_by(every).map(|power| 10f64.powi(power)).filter(inside).collect()
    }
}

/// The least and the greatest of the finite values.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite() && value.abs() < SANE).fold(None, |known, value| {
        let (least, most) = known.unwrap_or((value, value));
        Some((value.min(least), value.max(most)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let axis = Axis::from_zero([66.0, 12.0].into_iter(), "");
        assert_eq!(labels(&axis, 7), ["0", "10", "20", "30", "40", "50", "60"]);
        let axis = Axis::decades([30.0, 90_000.0].into_iter(), "", number::time_tick);
        assert_eq!(labels(&axis, 6), ["100 ns", "1 µs", "10 µs", "100 µs"]);
        let axis = Axis::doublings(&[1, 2, 4, 8], "");
        assert_eq!(labels(&axis, 8), ["1", "2", "4", "8"]);
    }

    #[test]
    fn odd_values_have_a_place_or_none() {
        for values in [vec![], vec![f64::NAN], vec![0.0], vec![-1.0, 1e308], vec![5.0]] {
            let linear = Axis::from_zero(values.iter().copied(), "");
            assert!(!linear.ticks(5).is_empty(), "{values:?}");
            let log = Axis::decades(values.iter().copied(), "", number::plain);
            assert!(!log.ticks(5).is_empty(), "{values:?}");
            assert_eq!(log.at(0.0), Some(0.0));
            assert_eq!(log.at(f64::INFINITY), None);
        }
        assert_eq!(Axis::doublings(&[], "").at(4.0), Some(0.5));
        assert_eq!(Axis::doublings(&[0], "").at(1.0), Some(0.5));
    }
}
