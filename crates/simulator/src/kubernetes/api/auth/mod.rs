//! Authentication, authorization and admission.

mod admission;
mod rbac;
mod reviews;
