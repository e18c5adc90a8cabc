import { apiVersion, RESOURCE_TYPES } from './resource-types.ts'

/** What kubectl requests before anything else; undefined for any other path. */
export function discovery(path: string): object | undefined {
  if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64' }
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
  const groups = [...new Set(RESOURCE_TYPES.map((type) => type.group))].filter((group) => group !== '')
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) }
  const version = /^\/(?:api|apis)\/(.+)$/.exec(path)?.[1]
  const types = RESOURCE_TYPES.filter((type) => apiVersion(type) === version)
  if (types.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: version,
    resources: types.map(({ plural, kind, namespaced }) => ({
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: ['delete', 'get', 'list'],
    })),
  }
}

function groupEntry(name: string): object {
  const { version: served = 'v1' } = RESOURCE_TYPES.find(({ group }) => group === name) ?? {}
  const version = { groupVersion: `${name}/${served}`, version: served }
  return { name, versions: [version], preferredVersion: version }
}
