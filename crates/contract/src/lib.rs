//! The nouns that the node, the controller and the operator share.
