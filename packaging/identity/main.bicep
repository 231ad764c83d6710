// Identity of the controller: a managed identity, its federation with the service account of the chart, and the role on the
// VMs of the cluster. Deploy it to the resource group of the cluster, with the rights of an owner of both groups:
//
//   az deployment group create --resource-group RG --template-file packaging/identity/main.bicep \
//       --parameters cluster=CLUSTER nodeResourceGroup=MC_RG_CLUSTER_REGION

@description('Name of the cluster. It needs the OIDC issuer and workload identity.')
param cluster string

@description('Node resource group of the cluster: `az aks show --query nodeResourceGroup`.')
param nodeResourceGroup string

@description('Namespace of the chart.')
param namespace string = 'mooring-system'

@description('Name of the managed identity.')
param name string = 'mooring'

param location string = resourceGroup().location

resource aks 'Microsoft.ContainerService/managedClusters@2024-05-01' existing = {
  name: cluster
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: name
  location: location
}

resource federation 'Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials@2023-01-31' = {
  parent: identity
  name: name
  properties: {
    issuer: aks.properties.oidcIssuerProfile.issuerURL
    subject: 'system:serviceaccount:${namespace}:mooring'
    audiences: [
      'api://AzureADTokenExchange'
    ]
  }
}

module nodes 'nodes.bicep' = {
  name: 'mooring-nodes'
  scope: resourceGroup(nodeResourceGroup)
  params: {
    principalId: identity.properties.principalId
  }
}

@description('Value of azure.clientId of the chart.')
output clientId string = identity.properties.clientId
