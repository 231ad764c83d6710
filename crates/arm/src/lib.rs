//! Azure Resource Manager, for the calls that Mooring makes.
