mod access;
mod cluster_objects;
mod deletion;
mod json_patch;
mod lists;
mod merge_patch;
mod objects;
mod pods;
mod protocol;
mod records;
mod schema;
mod watches;

use crate::case::Case;

pub(crate) fn all() -> Vec<Case> {
    [
        objects::cases(),
        lists::cases(),
        watches::cases(),
        json_patch::cases(),
        merge_patch::cases(),
        schema::cases(),
        deletion::cases(),
        pods::cases(),
        records::cases(),
        cluster_objects::cases(),
        access::cases(),
        protocol::cases(),
    ]
    .concat()
}
