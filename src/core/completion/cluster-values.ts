/** Which values may stand in a place, by what a cluster has. */
import type { ClusterNames, NamedObject } from './cluster-names.ts'
import type { LiveKind } from './live-kinds.ts'
import type { Value } from './live-values.ts'

/** Everything but contexts and codes, which need no cluster. @param current as far as it is typed */
export async function clusterValues(kind: LiveKind, current: string, names: ClusterNames): Promise<Value[]> {
  switch (kind) {
    case 'pod':
      return values(await names.pods(namespaceIn(current)))
    case 'namespace':
      return (await names.pods()).map(({ namespace = 'default' }) => ({ value: namespace }))
    case 'volume':
      return values(await names.volumes())
    case 'driver':
      return driverValues(names)
    case 'node':
      return nodeValues(names)
    case 'thing':
      return thingValues(current, names)
    default:
      return []
  }
}

function values(objects: readonly NamedObject[]): Value[] {
  return objects.map(({ namespace, name, about }) => ({
    value: namespace === undefined ? name : `${namespace}/${name}`,
    ...(about !== undefined && { about }),
  }))
}

/** `shop/we`: no other namespace is wanted. */
function namespaceIn(current: string): string | undefined {
  const [namespace = '', ...rest] = current.split('/')
  return rest.length > 0 && namespace !== '' ? namespace : undefined
}

/** Nodes that are gone, too: an attachment may keep the name of one. */
async function nodeValues(names: ClusterNames): Promise<Value[]> {
  const [nodes, attachments] = await Promise.all([names.nodes(), names.attachments()])
  const listed = new Set(nodes.map(({ name }) => name))
  const gone = new Set(attachments.map(({ node }) => node).filter((node) => !listed.has(node)))
  return [...values(nodes), ...[...gone].map((value) => ({ value, about: 'named by an attachment' }))]
}

async function driverValues(names: ClusterNames): Promise<Value[]> {
  const [drivers, attachments] = await Promise.all([names.drivers(), names.attachments()])
  const attachers = [...new Set(attachments.map(({ attacher }) => attacher))]
  return [...values(drivers), ...attachers.map((value) => ({ value, about: 'of an attachment' }))]
}

const KINDS: Readonly<
  Record<string, (names: ClusterNames, namespace: string | undefined) => Promise<readonly Value[]>>
> = {
  pod: async (names, namespace) => values(await names.pods(namespace)),
  pvc: async (names, namespace) => values(await names.claims(namespace)),
  pv: async (names) => values(await names.volumes()),
  va: async (names) => values(await names.attachments()),
  node: nodeValues,
  driver: driverValues,
}

/** As kubectl has them, too. */
const ALSO: Readonly<Record<string, string>> = {
  po: 'pod',
  persistentvolumeclaim: 'pvc',
  persistentvolume: 'pv',
  volumeattachment: 'va',
  attachment: 'va',
  csidriver: 'driver',
}

async function thingValues(current: string, names: ClusterNames): Promise<Value[]> {
  const [, kind = '', rest = ''] = /^([a-z]+)\/(.*)$/s.exec(current) ?? []
  const known = Object.hasOwn(ALSO, kind) ? ALSO[kind] : kind
  const list = known !== undefined && Object.hasOwn(KINDS, known) ? KINDS[known] : undefined
  if (list !== undefined) {
    const found = await list(names, namespaceIn(rest))
    return found.map(({ value, ...about }) => ({ value: `${kind}/${value}`, ...about }))
  }
  const prefixes = Object.keys(KINDS).map((value) => ({ value: `${value}/` }))
  return [...values(await names.pods(namespaceIn(current))), ...prefixes]
}
