//! Binary of the command line, which is a library so that the lab can run it.

fn main() -> std::process::ExitCode {
    mooring::main()
}
