//! Rows, lookups and pages.

use mooring_codes::{
    Category, Date, ExitCode, Os, Owner, Reach, Since, Status, Transient, all, by_name, image_date,
    lookup, lookup_named, page,
};
use proptest::prelude::*;

#[expect(clippy::unwrap_used, reason = "the tests' own days are right")]
fn day(text: &str) -> Date {
    image_date(text).unwrap()
}

/// The names that a number has on Linux, in order; "" is an unknown day.
fn names(number: i32, when: &str) -> Vec<&'static str> {
    let when = (!when.is_empty()).then(|| day(when));
    lookup(Os::Linux, number, when).into_iter().map(|code| code.name).collect()
}

fn numbers(name: &str) -> Vec<i32> {
    by_name(name).into_iter().map(|code| code.number).collect()
}

fn count(os: Os, status: Status) -> usize {
    all().filter(|code| code.os == os && code.status == status).count()
}

fn documented_codes() -> impl Iterator<Item = &'static ExitCode> {
    all().filter(|code| {
        code.os == Os::Linux && matches!(code.status, Status::Current | Status::Agent)
    })
}

#[test]
fn meanings_print_as_a_list_of_their_codes() {
    let printed = format!("{:?}", lookup(Os::Linux, 50, None));
    assert!(printed.starts_with("[\"") && printed.contains("ERR_OUTBOUND_CONN_FAIL"), "{printed}");
    assert_eq!(format!("{:?}", lookup(Os::Linux, 999_999, None)), "[]");
}

// ---- contents

#[test]
fn tables_contain_all_codes() {
    assert_eq!(count(Os::Linux, Status::Current), 130);
    assert_eq!(count(Os::Linux, Status::Raw), 15);
    assert_eq!(count(Os::Linux, Status::Removed), 43);
    assert_eq!(count(Os::Linux, Status::ImageBuildOnly), 24);
    assert_eq!(count(Os::Linux, Status::Proposed), 5);
    assert_eq!(count(Os::Linux, Status::Agent), 1);
    assert_eq!(count(Os::Windows, Status::Current), 85);
    assert_eq!(count(Os::Windows, Status::Proposed), 3);
    assert_eq!(all().count(), 306);
    let reachable = |code: &&ExitCode| code.os == Os::Linux && code.reach == Reach::Node;
    assert_eq!(documented_codes().filter(reachable).count(), 65 + 1);
}

#[test]
fn rows_have_no_empty_or_placeholder_texts() {
    for code in all() {
        for text in [code.name, code.meaning, code.cause, code.action, code.origin] {
            let lower = text.to_lowercase();
            assert!(text.len() >= 3 && text.trim() == text, "{code}: {text:?}");
            assert!(!text.contains("  "), "{code}: {text:?}");
            for placeholder in ["n/a", "todo", "tbd", "same as", "fixme"] {
                assert!(!lower.contains(placeholder), "{code}: {text:?}");
            }
        }
        for sentence in [code.meaning, code.cause, code.action] {
            assert!(sentence.ends_with('.') && sentence.contains(' '), "{code}: {sentence:?}");
        }
    }
}

#[test]
fn node_codes_have_actionable_texts() {
    for code in documented_codes() {
        assert!(code.meaning.len() >= 40, "{code}: {}", code.meaning);
        assert!(code.cause.len() >= 20, "{code}: {}", code.cause);
        assert!(code.action.len() >= 20, "{code}: {}", code.action);
        assert!(!code.owner.role().is_empty(), "{code}");
    }
}

#[test]
fn a_removed_meaning_names_a_row_that_took_it_over_or_none() {
    for code in all() {
        if let Some((number, name)) = code.became {
            let heir = lookup(code.os, number, None).into_iter().find(|row| row.name == name);
            let heir = heir.unwrap_or_else(|| panic!("{code} became nothing"));
            assert!(heir != code && heir.introduced.date() >= code.introduced.date(), "{code}");
        }
        assert_eq!(code.removed.is_some(), code.status == Status::Removed, "{code}");
    }
}

#[test]
fn enum_labels_are_unique_and_valid() {
    fn check(words: &[&str]) {
        for word in words {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{word}");
            assert_eq!(words.iter().filter(|other| *other == word).count(), 1, "{word}");
        }
    }
    check(&Os::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    check(&Status::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    check(&Reach::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    check(&Category::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    check(&Owner::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    check(&Transient::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>());
    assert_eq!(format!("{:>9}", Owner::Network), "  network");
}

// ---- 232, 211 and 240

const ORAS: &str = "ERR_ORAS_BINARY_NOT_FOUND";
const SYSEXT: &str = "ERR_SYSEXT_VERSION_ID_NOT_FOUND";

#[test]
fn missing_oras_is_not_reported_as_only_a_sysext_problem() {
    assert_eq!(names(232, ""), [ORAS, SYSEXT]);
    assert_eq!(names(232, "202601.27.0"), [ORAS]);
    assert_eq!(names(232, "2026-03-22"), [ORAS]);
    for code in lookup(Os::Linux, 232, None) {
        let page = page(code);
        assert!(page.contains(ORAS) && page.contains(SYSEXT), "{page}");
    }
}

#[test]
fn unnamed_232_of_a_later_image_comes_from_its_scripts() {
    assert_eq!(names(232, "2026-03-23"), [SYSEXT]);
    assert_eq!(names(232, "202608.01.0"), [SYSEXT]);
}

#[test]
fn named_constant_in_report_overrides_date() {
    let named = |text, when| {
        let found = lookup_named(Os::Linux, 232, text, when);
        found.into_iter().map(|code| code.name).collect::<Vec<_>>()
    };
    let late = Some(day("2026-08-01"));
    assert_eq!(named("ERR_ORAS_BINARY_NOT_FOUND: no oras in PATH", late), [ORAS]);
    assert_eq!(named("ERR_ORAS_BINARY_NOT_FOUND", None), [ORAS]);
    assert_eq!(named("ERR_SYSEXT_VERSION_ID_NOT_FOUND", None), [SYSEXT]);
    assert_eq!(named("", late), [SYSEXT]);
    assert_eq!(named("ERR_ORAS_BINARY_NOT_FOUND_TOO", late), [SYSEXT]);
    assert_eq!(named("an ERR_ORAS_BINARY_NOT_FOUND", None), [ORAS, SYSEXT]);

    let windows = lookup_named(Os::Windows, 85, "WINDOWS_CSE_ERROR_LOAD_BOOTSTRAP_CONFIG", None);
    assert_eq!(windows.len(), 1);
    assert_eq!(lookup(Os::Windows, 85, None).len(), 3);
}

#[test]
fn missing_oras_is_owned_by_image_and_not_transient() {
    let code = by_name(ORAS).first().unwrap();
    assert_eq!((code.status, code.owner), (Status::Agent, Owner::Image));
    assert_eq!(code.transient, Transient::No);
    assert!(code.action.contains("az aks nodepool rollback") && code.action.contains("preflight"));
}

/// A pool does not roll back its image by itself; each remedy is an existing command or field.
#[test]
fn image_actions_name_existing_commands() {
    for name in
        ["ERR_MISSING_CUDA_PACKAGE", "ERR_CONTAINERD_VERSION_INVALID", "ERR_CNI_VERSION_INVALID"]
    {
        let action = by_name(name).first().unwrap().action;
        for lever in ["az aks nodepool rollback", "imageFamily", "spec.versions"] {
            assert!(action.contains(lever), "{name}: {lever}: {action}");
        }
    }
    for code in all() {
        let action = code.action.to_lowercase();
        assert!(!action.contains("roll the pool") && !action.contains("imageversion"), "{action}");
    }
}

#[test]
fn page_of_211_mentions_missing_oras() {
    let code = lookup(Os::Linux, 211, None).first().unwrap();
    assert!(code.meaning.contains("oras binary") && code.action.contains("command not found"));
}

#[test]
fn the_agents_own_failure_is_240() {
    let found = lookup(Os::Linux, 240, None);
    let code = found.first().unwrap();
    assert_eq!((found.len(), code.name), (1, "ERR_AKS_NODE_CONTROLLER_ERROR"));
    assert!(code.meaning.contains("before it ran anything"));
}

// ---- numbers and dates

#[test]
fn reused_number_is_resolved_by_image_date() {
    let cases: &[(i32, &str, &[&str])] = &[
        (10, "2020-03-01", &["ERR_ETCD_DATA_DIR_NOT_FOUND"]),
        (10, "2020-06-24", &["ERR_NTP_INSTALL_TIMEOUT"]),
        (10, "2025-10-28", &["ERR_MISSING_CUDA_PACKAGE"]),
        (120, "2025-06-11", &["ERR_AZURE_STACK_GET_ARM_TOKEN"]),
        (120, "2025-06-12", &["ERR_INVALID_CLI_TOOL"]),
        (121, "2025-07-01", &[]),
        (121, "2025-08-05", &["ERR_KUBELET_INSTALL_TIMEOUT"]),
        (121, "2025-08-29", &["ERR_KUBELET_INSTALL_FAIL"]),
        (122, "2025-06-11", &["ERR_AZURE_STACK_GET_SUBNET_PREFIX"]),
        (122, "2025-08-28", &["ERR_KUBECTL_INSTALL_TIMEOUT"]),
        (122, "2026-01-01", &["ERR_KUBECTL_INSTALL_FAIL"]),
        (124, "2023-05-31", &["global time-out", "ERR_VHD_FILE_NOT_FOUND"]),
        (124, "2023-06-01", &["global time-out"]),
        (65, "2023-05-31", &[]),
        (65, "2023-06-01", &["ERR_VHD_FILE_NOT_FOUND"]),
        (211, "2025-02-07", &["ERR_ORAS_PULL_FAIL_RESERVE_4"]),
        (211, "2025-02-08", &["ERR_ORAS_PULL_NETWORK_TIMEOUT"]),
        (231, "2026-01-22", &[]),
        (231, "2026-02-16", &["ERR_IMDS_FETCH_FAILED"]),
        (231, "2026-04-06", &["ERR_ORAS_PULL_SYSEXT_FAIL"]),
        (225, "2025-10-09", &[]),
        (225, "2026-04-06", &["ERR_NVIDIA_GPG_KEY_DOWNLOAD_TIMEOUT"]),
    ];
    for (number, when, expected) in cases {
        assert_eq!(names(*number, when), *expected, "{number} on {when}");
    }
}

#[test]
fn constants_sharing_a_number_are_both_returned() {
    for when in ["2026-02-17", "2026-03-20", "2026-04-05"] {
        assert_eq!(names(231, when), ["ERR_ORAS_PULL_SYSEXT_FAIL", "ERR_IMDS_FETCH_FAILED"]);
    }
    for when in ["2025-10-10", "2026-04-05"] {
        assert_eq!(
            names(225, when),
            ["ERR_PULL_POD_INFRA_CONTAINER_IMAGE", "ERR_NVIDIA_GPG_KEY_DOWNLOAD_TIMEOUT"]
        );
    }
}

#[test]
fn current_node_codes_come_first() {
    assert_eq!(names(130, "")[0], "ERR_SWAP_CREATE_FAIL");
    assert_eq!(lookup(Os::Linux, 2, None).first().unwrap().status, Status::Raw);
    assert_eq!(lookup(Os::Linux, 125, None).first().unwrap().status, Status::Raw);
    assert_eq!(
        names(10, ""),
        [
            "ERR_MISSING_CUDA_PACKAGE",
            "ERR_NTP_INSTALL_TIMEOUT",
            "ERR_ETCD_DATA_DIR_NOT_FOUND",
            "ERR_NTP_INSTALL_TIMEOUT",
        ]
    );
    let last = lookup(Os::Linux, 10, None).into_iter().next_back().unwrap();
    assert_eq!(last.status, Status::ImageBuildOnly);
}

#[test]
fn a_meaning_older_than_the_records_holds_before_them() {
    assert_eq!(names(50, "2019-01-01"), ["ERR_OUTBOUND_CONN_FAIL"]);
    assert_eq!(names(10, "2019-01-01"), ["ERR_ETCD_DATA_DIR_NOT_FOUND"]);
    assert!(names(51, "2020-03-26").is_empty(), "51 has a recorded first day");
    let since = lookup(Os::Linux, 50, None).first().unwrap().introduced;
    assert_eq!(since.to_string(), "2020-02-07 or earlier");
    assert_eq!(since, Since::By(Date::new(2020, 2, 7).unwrap()));
}

#[test]
fn an_undated_code_of_the_image_build_never_hides_a_dated_one() {
    assert_eq!(names(169, "2026-01-01"), ["ERR_SECURE_TLS_BOOTSTRAP_CLIENT_DOWNLOAD_ERROR"]);
    assert_eq!(names(181, "2026-01-01"), ["ERR_ADD_UA_APT_REPO"]);
}

#[test]
fn proposals_are_never_returned_for_an_image() {
    assert_eq!(names(244, ""), ["ERR_AMD_ROCM_UNSUPPORTED_OS"]);
    assert!(names(244, "2026-08-01").is_empty());
    assert!(lookup(Os::Windows, 85, Some(day("2026-08-01"))).is_empty());
}

#[test]
fn a_number_that_was_withdrawn_for_some_days_is_free_on_them() {
    for (number, name) in
        [(86, "ERR_GPU_DEVICE_PLUGIN_START_FAIL"), (87, "ERR_GPU_INFO_ROM_CORRUPTED")]
    {
        assert_eq!(names(number, "2020-06-08"), [name]);
        assert!(names(number, "2020-06-09").is_empty());
        assert!(names(number, "2020-06-17").is_empty());
        assert_eq!(names(number, "2020-06-18"), [name]);
    }
}

#[test]
fn the_operating_system_decides() {
    let name = |os| lookup(os, 50, None).first().unwrap().name;
    assert_eq!(name(Os::Linux), "ERR_OUTBOUND_CONN_FAIL");
    assert_eq!(name(Os::Windows), "WINDOWS_CSE_ERROR_NO_CSE_RESULT_LOG");
}

#[test]
fn an_unknown_number_has_no_meaning() {
    for number in [i32::MIN, -2, 111_111, 256, 1000, i32::MAX] {
        assert!(lookup(Os::Linux, number, None).is_empty());
        assert!(lookup(Os::Windows, number, None).first().is_none());
    }
}

// ---- names

#[test]
fn aks_names_are_found() {
    for (alias, expected) in [
        ("VMExtensionError_OutboundConnFail", 50),
        ("VMExtensionError_OutBoundConnFail", 50),
        ("OutBoundConnFail", 50),
        ("OutboundConnFailVMExtensionError", 50),
        ("vmextensionerror_outboundconnfail", 50),
        ("vmextensionerror-outboundconnfail", 50),
        ("VMExtensionError_K8SAPIServerConnFail", 51),
        ("K8SAPIServerConnFailVMExtensionError", 51),
        ("VMExtensionError_K8SAPIServerDNSLookupFail", 52),
        ("K8SAPIServerDNSLookupFailVMExtensionError", 52),
        ("LookupNoSuchHost", 52),
        ("VMExtensionError_K8SDownloadTimeout", 31),
        ("VMExtensionError_CniDownloadTimeout", 41),
        ("VMExtensionError_CNIDownloadTimeout", 41),
        ("CNIDownloadTimeout", 41),
        ("CniDownloadTimeoutVMExtensionError", 41),
        ("VMExtensionError_OrasPullNetworkTimeout", 211),
        ("OrasPullNetworkTimeoutVMExtensionError", 211),
        ("VMExtensionError_OrasPullUnauthorized", 212),
        ("OrasPullUnauthorizedVMExtensionError", 212),
        ("VMExtensionError_AptUpdateTimeout", 99),
        ("AptInstallTimeoutVMExtensionError", 9),
    ] {
        assert_eq!(numbers(alias), [expected], "{alias}");
    }
    assert_eq!(numbers("VMExtensionError_VHDFileNotFound"), [65, 124]);
    for code in all() {
        for alias in code.aks_names {
            assert_eq!(by_name(alias).first(), Some(code), "{alias}");
        }
    }
}

#[test]
fn aks_names_without_a_code_are_not_found() {
    for name in [
        "VMExtensionProvisioningError",
        "VMExtensionProvisioningError_Windows",
        "VMExtensionProvisioningTimeout",
        "VMExtensionError_ProvisioningTimeout",
        "NoVMSSInstanceView",
        "VMExtensionError",
        "VMExtensionError_",
        "ERR_",
        "_",
        "",
        "50",
        "success",
        "é",
    ] {
        assert!(by_name(name).is_empty(), "{name}");
    }
}

#[test]
fn constants_are_found_in_each_spelling() {
    for code in all().filter(|code| code.status != Status::Raw) {
        let mut spellings = vec![code.name.to_owned(), code.name.to_lowercase()];
        if let Some(core) = code.name.strip_prefix("ERR_") {
            let mut camel = String::new();
            for word in core.split('_') {
                camel.push_str(&word[..1]);
                camel.push_str(&word[1..].to_lowercase());
            }
            spellings.push(core.to_owned());
            spellings.push(format!("VMExtensionError_{camel}"));
            spellings.push(format!("{camel}VMExtensionError"));
        }
        for spelling in spellings {
            assert!(by_name(&spelling).contains(&code), "{spelling}");
        }
    }
}

#[test]
fn moved_name_returns_current_number_first() {
    assert_eq!(numbers("ERR_IMDS_FETCH_FAILED"), [234, 231]);
    assert_eq!(numbers("ERR_PULL_POD_INFRA_CONTAINER_IMAGE"), [233, 225]);
    assert_eq!(numbers("ERR_ORAS_PULL_FAIL_RESERVE_2"), [209, 210]);
    assert_eq!(numbers("ERR_ORAS_PULL_FAIL_RESERVE_4"), [211]);
}

proptest! {
    #[test]
    fn lookup_never_panics(text in "\\PC{0,40}", number: i32) {
        let _ = by_name(&text);
        let _ = lookup_named(Os::Linux, number, &text, None);
    }

    #[test]
    fn a_day_never_adds_a_meaning(number in -1i32..256, month in 1u8..=12, year in 2019u16..2028) {
        let every = lookup(Os::Linux, number, None);
        let then = lookup(Os::Linux, number, Date::new(year, month, 15));
        prop_assert!(then.iter().all(|code| every.iter().any(|other| other == code)));
    }
}

// ---- pages

#[test]
fn pages_have_all_sections() {
    for code in all() {
        let page = page(code);
        assert!(page.starts_with(&format!("{} {}", code.number, code.name)), "{page}");
        for heading in ["## Likely cause", "## First action", "## Owner", "## Retry", "## Source"] {
            if heading == "## Owner" && code.number == 0 {
                continue;
            }
            let text = page.split(heading).nth(1).unwrap_or_else(|| panic!("{page}"));
            assert!(!text.trim_start().starts_with('#'), "{heading} is empty:\n{page}");
        }
        let owner = format!("## Owner\n\n{}: ", code.owner);
        assert_eq!(page.contains(&owner), code.number != 0, "{page}");
        let long = page.lines().find(|line| line.chars().count() > 80 && line.contains(' '));
        assert_eq!(long, None);
    }
}

#[test]
fn page_of_50_matches_golden_file() {
    let page = page(by_name("ERR_OUTBOUND_CONN_FAIL").first().unwrap());
    assert_eq!(page, include_str!("page-50.txt"));
}

#[test]
fn page_lists_other_meanings_with_dates() {
    let page = page(lookup(Os::Linux, 231, None).first().unwrap());
    assert!(page.contains("## Other meanings of 231"));
    assert!(page.contains("ERR_IMDS_FETCH_FAILED (on Linux from 2026-01-23 until 2026-04-06)"));
}

#[test]
fn page_of_success_does_not_describe_a_failure() {
    for code in all().filter(|code| code.number == 0) {
        let page = page(code);
        assert_eq!(code.transient, Transient::NotNeeded, "{code}");
        assert!(page.contains("## Retry\n\nNot needed: nothing failed.\n"), "{page}");
        for wrong in ["## Owner", "fail in the same way", "Nothing to do"] {
            assert!(!page.contains(wrong), "{wrong}: {page}");
        }
    }
    let failures = all().filter(|code| code.transient == Transient::NotNeeded && code.number != 0);
    assert_eq!(failures.count(), 0);
}
