"""Parses the modules of the identity, and compares what both say. `cargo xtask test` runs it; no output is success."""
import json
import pathlib
import sys

import hcl2
import tree_sitter
import tree_sitter_bicep

HERE = pathlib.Path(__file__).parent
BICEP = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bicep.language()))


def errors(node):
    """Lists the lines of a Bicep file that cannot be parsed."""
    if node.type == "ERROR" or node.is_missing:
        return [node.start_point[0] + 1]
    return [line for child in node.children for line in errors(child)]


def main():
    found = []
    texts = {}
    for name in ("main.bicep", "nodes.bicep"):
        source = (HERE / name).read_bytes()
        texts[name] = source.decode()
        found += [f"{name}:{line}: cannot be parsed" for line in errors(BICEP.parse(source).root_node)]
    terraform = (HERE / "main.tf").read_text()
    blocks = hcl2.loads(terraform)
    kinds = {kind.strip('"') for block in blocks["resource"] for kind in block}
    wanted = {
        "azurerm_user_assigned_identity",
        "azurerm_federated_identity_credential",
        "azurerm_role_definition",
        "azurerm_role_assignment",
    }
    if kinds != wanted:
        found.append(f"main.tf: resources {sorted(kinds)}")
    bicep = "".join(texts.values())
    for shared in ("api://AzureADTokenExchange", ":mooring", "../roles/mooring-controller.json", "ServicePrincipal"):
        for name, text in (("bicep", bicep), ("main.tf", terraform)):
            if shared not in text:
                found.append(f"{name}: without {shared}")
    role = json.loads((HERE / "../roles/mooring-controller.json").read_text())
    for member in ("Name", "Description", "Actions"):
        if member not in role:
            found.append(f"mooring-controller.json: without {member}")
        for name, text in (("nodes.bicep", texts["nodes.bicep"]), ("main.tf", terraform)):
            if f"role.{member}" not in text:
                found.append(f"{name}: does not use {member} of the role")
    print("\n".join(found), end="", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
