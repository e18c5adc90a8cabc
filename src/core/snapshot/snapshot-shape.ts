/**
 * The shape below the sections of a snapshot that the planner relies on without looking: where something of it is
 * missing or of another kind, a pass would stop in the middle, or take what it cannot see for absent.
 */
type Kind = 'text' | 'list' | 'object' | 'flag'

/** `[]`: every entry. Needed: undefined and null are defects. Optional: null is one, since no source writes it. */
const NEEDED: Readonly<Record<Kind, readonly string[]>> = {
  text: [
    'api.pods[].metadata.uid',
    'api.pods[].spec.volumes[].name',
    'api.persistentVolumes[].spec.csi.driver',
    'api.persistentVolumes[].spec.csi.volumeHandle',
    'api.volumeAttachments[].spec.attacher',
    'api.volumeAttachments[].spec.nodeName',
    'processes[]',
    'deadMounts[].path',
    'runtime.source',
    'runtime.pods[].uid',
    'runtime.pods[].state',
    'runtime.pods[].containers[].state',
    'staticPods.manifests[].file',
    'staticPods.manifests[].name',
    'blockDevices[].name',
    'csiSockets[].path',
    'flexDrivers[].name',
    'lazilyDetached[].path',
    'hostPaths[].path',
  ],
  list: ['runtime.pods[].containers'],
  object: [
    'deadMounts[]',
    'runtime.pods[]',
    'runtime.pods[].containers[]',
    'staticPods.manifests[]',
    'blockDevices[]',
    'csiSockets[]',
    'flexDrivers[]',
    'lazilyDetached[]',
    'hostPaths[]',
    'api.node.metadata',
    'api.node.status.conditions[]',
    'api.node.status.volumesAttached[]',
    'api.node.spec.taints[]',
    'api.csiNode.spec',
    'api.csiNode.spec.drivers[]',
    'api.csiDrivers[].spec',
    'api.persistentVolumes[].spec',
    'api.persistentVolumeClaims[].spec',
    'api.persistentVolumeClaims[].metadata.ownerReferences[]',
    'api.volumeAttachments[].spec',
    'api.volumeAttachments[].spec.source',
    'api.pods[].spec.volumes[]',
    'api.pods[].status.conditions[]',
    ...forContainers('containers[]'),
    ...forContainers('containers[].volumeMounts[]'),
    ...forContainers('containers[].volumeDevices[]'),
    ...forContainers('containerStatuses[]'),
  ],
  flag: ['kubelet.running', 'kubelet.mayReturn', 'staticPods.readable', 'csiSockets[].registered'],
}

const OPTIONAL: Readonly<Record<Kind, readonly string[]>> = {
  text: [
    'api.insecure',
    'api.podListCheck.insecure',
    'api.node.status.nodeInfo.machineID',
    'api.node.status.nodeInfo.systemUUID',
    'blockDevices[].backingFile',
    'csiSockets[].driver',
    'staticPods.path',
    'hostPaths[].type',
    'hostPaths[].error',
    'selinux.fileLabel',
    'selinux.error',
    'staticPods.manifests[].uid',
  ],
  list: [
    'api.node.status.conditions',
    'api.node.spec.taints',
    'api.persistentVolumes[].spec.accessModes',
    'api.persistentVolumeClaims[].metadata.ownerReferences',
    'api.pods[].spec.volumes',
    'api.pods[].status.conditions',
    ...forContainers('containers'),
    ...forContainers('containers[].volumeMounts'),
    ...forContainers('containers[].volumeDevices'),
    ...forContainers('containerStatuses'),
    'csiSockets[].capabilities',
  ],
  object: [
    'api.node.status',
    'api.node.status.nodeInfo',
    'api.node.spec',
    'api.persistentVolumes[].spec.csi',
    'api.pods[].metadata.annotations',
    'api.pods[].metadata.labels',
    'api.pods[].status',
    'api.configMaps[].digests',
    'api.secrets[].digests',
    'kubelet.config',
    'selinux',
    ...forContainers('containers[].securityContext'),
  ],
  flag: ['selinux.enabled', 'userNamespace'],
}

/** What Go writes as null where it means none. */
const NULLABLE: Readonly<Record<'list' | 'object', readonly string[]>> = {
  list: ['api.node.status.volumesAttached', 'api.node.status.volumesInUse', 'api.csiNode.spec.drivers'],
  object: ['api.node', 'api.csiNode'],
}

/** Init, main and ephemeral containers, or their statuses, have one shape. */
function forContainers(rest: string): string[] {
  const where = rest.startsWith('containerStatuses') ? 'api.pods[].status' : 'api.pods[].spec'
  const name = `${rest[0]?.toUpperCase()}${rest.slice(1)}`
  return [`${where}.${rest}`, `${where}.init${name}`, `${where}.ephemeral${name}`]
}

interface Rule {
  readonly path: readonly string[]
  readonly kind: Kind
  readonly accepts: (value: unknown) => boolean
}

/** What is wrong, in one line, or undefined. */
export function shapeDefect(document: object): string | undefined {
  for (const rule of rules()) {
    const defect = defectAt(document, rule, 0, '')
    if (defect !== undefined) return defect
  }
  return undefined
}

function rules(): Rule[] {
  const of = (lists: Readonly<Partial<Record<Kind, readonly string[]>>>, absent: (value: unknown) => boolean): Rule[] =>
    Object.entries(lists).flatMap(([kind, paths]) =>
      paths.map((path) => ({
        path: path.replaceAll('[]', '.[]').split('.'),
        kind: kind as Kind,
        accepts: (value: unknown) => absent(value) || isKind(value, kind as Kind),
      })),
    )
  // What holds others comes first: a message then names the outermost that is wrong.
  return [
    ...of(NEEDED, () => false),
    ...of(OPTIONAL, (value) => value === undefined),
    ...of(NULLABLE, (value) => value == null),
  ].toSorted((a, b) => a.path.length - b.path.length)
}

function defectAt(value: unknown, rule: Rule, depth: number, at: string): string | undefined {
  const key = rule.path[depth]
  if (key === undefined) {
    if (rule.accepts(value)) return undefined
    return value === undefined || value === null ? `${at} is missing` : `${at} is no ${rule.kind}`
  }
  if (key === '[]') {
    if (!Array.isArray(value)) return undefined
    for (const [index, entry] of value.entries()) {
      const defect = defectAt(entry, rule, depth + 1, `${at}[${index}]`)
      if (defect !== undefined) return defect
    }
    return undefined
  }
  // What holds it is judged by a rule of its own.
  if (typeof value !== 'object' || value === null) return undefined
  return defectAt((value as Readonly<Record<string, unknown>>)[key], rule, depth + 1, at === '' ? key : `${at}.${key}`)
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === (kind === 'text' ? 'string' : 'boolean')
}
