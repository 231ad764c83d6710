//! Custom data: documents, limits and errors.

#[cfg(test)]
mod multipart_reader;
#[cfg(test)]
mod node;
#[cfg(test)]
mod samples;

#[cfg(test)]
mod boothook_runs;
#[cfg(test)]
mod features;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod multipart;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod size;
