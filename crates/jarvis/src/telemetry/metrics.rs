//! The server's counts as metrics of OpenTelemetry.

use std::collections::HashMap;
use std::sync::Arc;

use jarvis_server::{MetricsSink, ProcessUse};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider, UpDownCounter};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use super::names::{self, Instrument, MetricName};

enum Made {
    Counter(Counter<f64>),
    UpDownCounter(UpDownCounter<f64>),
    Histogram(Histogram<f64>),
}

struct Sink(HashMap<&'static str, (&'static MetricName, Made)>);

/// The instruments of a provider, and this process' own use.
pub(super) fn sink(provider: &SdkMeterProvider) -> Arc<dyn MetricsSink> {
    let meter = provider.meter("jarvis");
    observe_process(&meter);
    let made = names::METRICS.iter().map(|metric| (metric.ours, (metric, made(&meter, metric))));
    Arc::new(Sink(made.collect()))
}

fn made(meter: &Meter, MetricName { theirs, unit, instrument, .. }: &MetricName) -> Made {
    match instrument {
        Instrument::Counter => Made::Counter(meter.f64_counter(*theirs).with_unit(*unit).build()),
        Instrument::UpDownCounter => Made::UpDownCounter(meter.f64_up_down_counter(*theirs).with_unit(*unit).build()),
        Instrument::Histogram(bounds) => {
            let histogram = meter.f64_histogram(*theirs).with_unit(*unit).with_boundaries(bounds.to_vec());
            Made::Histogram(histogram.build())
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

impl MetricsSink for Sink {
    fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let Some((metric, made)) = self.0.get(name) else { return };
        let named = labels.iter().filter_map(|(field, value)| {
            let (_, theirs) = metric.labels.iter().find(|(ours, _)| ours == field)?;
            Some(KeyValue::new(*theirs, names::value(field, value)?))
        });
        let always = metric.always.iter().map(|(field, value)| KeyValue::new(*field, *value));
        let labels: Vec<KeyValue> = named.chain(always).collect();
        match made {
            Made::Counter(counter) => counter.add(value, &labels),
            Made::UpDownCounter(counter) => counter.add(value, &labels),
            Made::Histogram(histogram) => histogram.record(value, &labels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_conventions() {
        for (field, ours, theirs) in [
            ("ok", "true", None),
            ("ok", "false", Some("_OTHER".into())),
            ("kind", "prompt", Some("input".into())),
            ("status", "404", Some(opentelemetry::Value::I64(404))),
            ("status", "done", Some("done".into())),
            ("model", "m", Some("m".into())),
        ] {
            assert_eq!(names::value(field, ours), theirs, "{field} {ours}");
        }
        let named: std::collections::HashSet<&str> = names::METRICS.iter().map(|metric| metric.ours).collect();
        assert_eq!(named.len(), names::METRICS.len(), "each stands once");
        // What durations count needs no metric of its own.
        let counted = ["http_requests", "model_calls"];
        let unnamed = jarvis_server::METRICS.iter().filter(|name| !named.contains(*name) && !counted.contains(name));
        assert_eq!(unnamed.count(), 0, "whatever is counted is exported");
    }
}
