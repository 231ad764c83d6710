mod admission;
mod rbac;
mod reviews;
