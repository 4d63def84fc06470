//! The server's counts as metrics of OpenTelemetry.

use std::collections::HashMap;
use std::sync::Arc;

use jarvis_server::{CountToo, ProcessUse};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider, UpDownCounter};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use super::names::{self, Counting, MetricName};

enum Instrument {
    Sum(Counter<f64>),
    Level(UpDownCounter<f64>),
    Spread(Histogram<f64>),
}

struct Counts(HashMap<&'static str, Instrument>);

/// The instruments of a provider, and this process' own use.
pub(super) fn counts(provider: &SdkMeterProvider) -> Arc<dyn CountToo> {
    let meter = provider.meter("jarvis");
    observe_process(&meter);
    let made = names::METRICS.iter().map(|metric| (metric.ours, instrument(&meter, metric)));
    Arc::new(Counts(made.collect()))
}

fn instrument(meter: &Meter, MetricName { theirs, unit, counting, .. }: &MetricName) -> Instrument {
    match counting {
        Counting::Sum => Instrument::Sum(meter.f64_counter(*theirs).with_unit(*unit).build()),
        Counting::Level => Instrument::Level(meter.f64_up_down_counter(*theirs).with_unit(*unit).build()),
        Counting::Spread(bounds) => {
            let spread = meter.f64_histogram(*theirs).with_unit(*unit).with_boundaries(bounds.to_vec());
            Instrument::Spread(spread.build())
        }
    }
}

fn observe_process(meter: &Meter) {
    meter
        .u64_observable_gauge(names::MEMORY)
        .with_unit("By")
        .with_callback(|gauge| ProcessUse::now().iter().for_each(|own| gauge.observe(own.memory_bytes, &[])))
        .build();
    meter
        .f64_observable_counter(names::CPU)
        .with_unit("s")
        .with_callback(|counter| ProcessUse::now().iter().for_each(|own| counter.observe(own.cpu_seconds, &[])))
        .build();
    meter
        .u64_observable_gauge(names::OPEN_FILES)
        .with_unit("{file_descriptor}")
        .with_callback(|gauge| {
            let files = ProcessUse::now().and_then(|own| own.open_files);
            files.iter().for_each(|files| gauge.observe(*files, &[]));
        })
        .build();
}

impl CountToo for Counts {
    fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let Some(instrument) = self.0.get(name) else { return };
        let labels: Vec<KeyValue> = labels
            .iter()
            .map(|(field, value)| KeyValue::new(names::field(field), names::value(field, value).to_owned()))
            .collect();
        match instrument {
            Instrument::Sum(counter) => counter.add(value, &labels),
            Instrument::Level(level) => level.add(value, &labels),
            Instrument::Spread(spread) => spread.record(value, &labels),
        }
    }
}
