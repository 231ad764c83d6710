// Role of the controller on the node resource group; see main.bicep.

@description('Object ID of the managed identity.')
param principalId string

var role = loadJsonContent('../roles/mooring-controller.json')

resource definition 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(resourceGroup().id, role.Name)
  properties: {
    // Names of roles are unique in a tenant.
    roleName: '${role.Name} on ${resourceGroup().name}'
    description: role.Description
    type: 'CustomRole'
    permissions: [
      {
        actions: role.Actions
        notActions: []
      }
    ]
    assignableScopes: [
      resourceGroup().id
    ]
  }
}

resource assignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(resourceGroup().id, principalId, role.Name)
  properties: {
    roleDefinitionId: definition.id
    principalId: principalId
    principalType: 'ServicePrincipal'
  }
}
