# Identity of the controller, as in main.bicep: a managed identity, its federation with the service account of the chart, and
# the role on the VMs of the cluster. Use it as a module; the provider azurerm 4 is configured by the caller.

terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = ">= 4.0, < 5.0"
    }
  }
}

variable "cluster" {
  description = "Name of the cluster. It needs the OIDC issuer and workload identity."
  type        = string
}

variable "resource_group" {
  description = "Resource group of the cluster."
  type        = string
}

variable "namespace" {
  description = "Namespace of the chart."
  type        = string
  default     = "mooring-system"
}

variable "name" {
  description = "Name of the managed identity."
  type        = string
  default     = "mooring"
}

locals {
  role = jsondecode(file("${path.module}/../roles/mooring-controller.json"))
}

data "azurerm_kubernetes_cluster" "this" {
  name                = var.cluster
  resource_group_name = var.resource_group
}

data "azurerm_resource_group" "nodes" {
  name = data.azurerm_kubernetes_cluster.this.node_resource_group
}

resource "azurerm_user_assigned_identity" "this" {
  name                = var.name
  location            = data.azurerm_kubernetes_cluster.this.location
  resource_group_name = var.resource_group
}

resource "azurerm_federated_identity_credential" "this" {
  name                = var.name
  resource_group_name = var.resource_group
  parent_id           = azurerm_user_assigned_identity.this.id
  issuer              = data.azurerm_kubernetes_cluster.this.oidc_issuer_url
  subject             = "system:serviceaccount:${var.namespace}:mooring"
  audience            = ["api://AzureADTokenExchange"]
}

resource "azurerm_role_definition" "this" {
  # Names of roles are unique in a tenant.
  name              = "${local.role.Name} on ${data.azurerm_resource_group.nodes.name}"
  description       = local.role.Description
  scope             = data.azurerm_resource_group.nodes.id
  assignable_scopes = [data.azurerm_resource_group.nodes.id]

  permissions {
    actions     = local.role.Actions
    not_actions = []
  }
}

resource "azurerm_role_assignment" "this" {
  scope              = data.azurerm_resource_group.nodes.id
  role_definition_id = azurerm_role_definition.this.role_definition_resource_id
  principal_id       = azurerm_user_assigned_identity.this.principal_id
  principal_type     = "ServicePrincipal"
}

output "client_id" {
  description = "Value of azure.clientId of the chart."
  value       = azurerm_user_assigned_identity.this.client_id
}
