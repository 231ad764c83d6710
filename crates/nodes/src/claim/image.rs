//! Names of node images, the same in every provisioning mode, so that outcomes are counted by image.

/// Galleries of AKS: public name, resource group and gallery name of the same images. Karpenter takes images
/// only from these.
const GALLERIES: [(&str, &str, &str); 2] = [
    ("AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2", "AKS-Ubuntu", "AKSUbuntu"),
    ("AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b", "AKS-AzureLinux", "AKSAzureLinux"),
];

/// Returns the name of an image: `AKSUbuntu/2204gen2containerd/202601.13.0`. Two ids have the same name only
/// if gallery, definition and version are equal and both galleries belong to AKS.
pub fn key(image: &str) -> String {
    from_id(image).or_else(|| from_name(image)).unwrap_or_else(|| image.to_owned())
}

/// Returns the version of an image, from its id or its key.
pub fn version(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or_default();
    last.rsplit('-').next().filter(|version| is_version(version)).unwrap_or(last)
}

/// Parses the id of a gallery image, community or not.
fn from_id(id: &str) -> Option<String> {
    let parts: Vec<&str> = id.split('/').filter(|part| !part.is_empty()).collect();
    let after = |name: &str| {
        let at = parts.iter().position(|part| part.eq_ignore_ascii_case(name))?;
        parts.get(at + 1).copied()
    };
    let (definition, version) = (after("images")?, after("versions")?);
    let gallery = match (after("CommunityGalleries"), after("galleries")) {
        (Some(public), _) => {
            let known = GALLERIES.iter().find(|known| known.0.eq_ignore_ascii_case(public));
            known.map_or_else(|| public.to_owned(), |known| known.2.to_owned())
        }
        (None, Some(gallery)) => {
            let group = after("resourceGroups").unwrap_or_default();
            let known = GALLERIES.iter().find(|known| {
                known.1.eq_ignore_ascii_case(group) && known.2.eq_ignore_ascii_case(gallery)
            });
            match known {
                Some(known) => known.2.to_owned(),
                None if group.is_empty() => gallery.to_owned(),
                None => format!("{group}/{gallery}"),
            }
        }
        (None, None) => return None,
    };
    Some(format!("{gallery}/{definition}/{version}"))
}

/// Parses the name that AKS gives an image: `AKSUbuntu-2204gen2containerd-202601.13.0`.
fn from_name(name: &str) -> Option<String> {
    let (rest, version) = name.rsplit_once('-').filter(|(_, version)| is_version(version))?;
    let known = GALLERIES.iter().find_map(|(.., gallery)| {
        let definition = rest.strip_prefix(gallery)?.strip_prefix('-')?;
        (!definition.is_empty()).then_some((*gallery, definition))
    });
    let (gallery, definition) = known?;
    Some(format!("{gallery}/{definition}/{version}"))
}

fn is_version(text: &str) -> bool {
    text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMUNITY: &str = "/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2204gen2containerd/versions/202601.13.0";
    const GALLERY: &str = "/subscriptions/s/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204gen2containerd/versions/202601.13.0";

    #[test]
    fn image_has_the_same_name_in_every_mode() {
        for image in [COMMUNITY, GALLERY, "AKSUbuntu-2204gen2containerd-202601.13.0"] {
            assert_eq!(key(image), "AKSUbuntu/2204gen2containerd/202601.13.0", "{image}");
            assert_eq!((version(image), version(&key(image))), ("202601.13.0", "202601.13.0"));
        }
    }

    #[test]
    fn different_images_have_different_names() {
        let images = [
            COMMUNITY.to_owned(),
            COMMUNITY.replace("2204gen2containerd", "2204containerd"),
            COMMUNITY.replace("2204gen2containerd", "2404gen2containerd"),
            COMMUNITY.replace("202601.13.0", "202601.27.0"),
            // Galleries of other publishers.
            COMMUNITY.replace("38d80f77", "00000000"),
            GALLERY.replace("AKS-Ubuntu", "ours"),
            GALLERY.replace("galleries/AKSUbuntu", "galleries/AKSAzureLinux"),
            "AKSAzureLinux-V3gen2-202601.13.0".to_owned(),
            "202601.13.0".to_owned(),
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/own".to_owned(),
        ];
        let keys: std::collections::BTreeSet<String> =
            images.iter().map(|image| key(image)).collect();
        assert_eq!(keys.len(), images.len(), "{keys:#?}");
    }

    #[test]
    fn gallery_of_another_owner_keeps_its_resource_group() {
        let ours = GALLERY.replace("AKS-Ubuntu", "ours");
        assert_eq!(key(&ours), "ours/AKSUbuntu/2204gen2containerd/202601.13.0");
        assert_eq!(key("/galleries/own/images/i/versions/1.0.0"), "own/i/1.0.0");
    }

    #[test]
    fn name_without_a_version_is_kept_as_it_is() {
        for name in ["AKSUbuntu-2204-latest", "AKSUbuntu-2204-7", "AKSUbuntu-2204-1.0a"] {
            assert_eq!((key(name).as_str(), version(name)), (name, name));
        }
        assert_eq!(key("AKSUbuntu--1.0.0"), "AKSUbuntu--1.0.0");
        assert_eq!(version("galleries/AKSUbuntu-2204-1.0.0"), "1.0.0");
    }
}
