import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FAULT_KINDS, type FaultSpec, parseFault } from './faults.ts'

export type BackendName = 'loop' | 'tmpfs' | 'bind'

export interface DriverOptions {
  readonly name: string
  readonly rootDir: string
  /** Images, records, logs and faults: everything that outlives a restart. */
  readonly stateDir: string
  readonly backend: BackendName
  /** Size of a new volume, in bytes. */
  readonly size: number
  readonly socketPath: string
  /** The endpoint in GetInfo; default: the socket's path. */
  readonly endpoint: string
  readonly registrationSocketPath: string | undefined
  readonly versions: readonly string[]
  /** Offers STAGE_UNSTAGE_VOLUME. */
  readonly stage: boolean
  /** Mounts at the staging path; otherwise staging is only recorded, as some drivers do. */
  readonly mountAtStage: boolean
  /** Mounts at all. */
  readonly mount: boolean
  /** Offers VOLUME_MOUNT_GROUP. */
  readonly mountGroup: boolean
  /** Offers SINGLE_NODE_MULTI_WRITER. */
  readonly multiWriter: boolean
  /** Offers EXPAND_VOLUME. */
  readonly canExpand: boolean
  /** Publishes only with the five keys of pod information. */
  readonly requirePodInfo: boolean
  /** `key=value` that every request with secrets must have. */
  readonly requireSecret: string | undefined
  readonly nodeId: string
  readonly faults: readonly FaultSpec[]
}

const MIB = 1024 * 1024

/** `node main.ts --name loop.test --root DIR --state DIR …`: every switch is described in main.ts. */
export function parseOptions(args: readonly string[]): DriverOptions {
  const faultFlags = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, { type: 'string', multiple: true } as const]))
  const { values } = parseArgs({
    args: [...args],
    options: {
      name: { type: 'string' },
      root: { type: 'string' },
      state: { type: 'string' },
      backend: { type: 'string', default: 'loop' },
      'size-mib': { type: 'string', default: '16' },
      'plugin-dir': { type: 'string' },
      endpoint: { type: 'string' },
      'registration-socket': { type: 'string' },
      'no-registration': { type: 'boolean', default: false },
      versions: { type: 'string', default: '1.0.0' },
      'no-stage': { type: 'boolean', default: false },
      'no-stage-mount': { type: 'boolean', default: false },
      'no-mount': { type: 'boolean', default: false },
      'mount-group': { type: 'boolean', default: false },
      'no-multi-writer': { type: 'boolean', default: false },
      'no-expand': { type: 'boolean', default: false },
      'require-pod-info': { type: 'boolean', default: false },
      'require-secret': { type: 'string' },
      'node-id': { type: 'string', default: 'node-a' },
      ...faultFlags,
    },
  })
  const { name, root, state, backend } = values
  if (name === undefined || root === undefined || state === undefined)
    throw new Error('--name, --root and --state are required')
  if (backend !== 'loop' && backend !== 'tmpfs' && backend !== 'bind') throw new Error(`no backend ${backend}`)
  const socketPath = join(root, 'plugins', values['plugin-dir'] ?? name, 'csi.sock')
  const registrationSocket = values['registration-socket'] ?? `${name}-reg.sock`
  return {
    name,
    rootDir: root,
    stateDir: state,
    backend,
    size: Number(values['size-mib']) * MIB,
    socketPath,
    endpoint: values.endpoint ?? socketPath,
    registrationSocketPath: values['no-registration'] ? undefined : join(root, 'plugins_registry', registrationSocket),
    versions: values.versions === '' ? [] : values.versions.split(','),
    stage: !values['no-stage'],
    mountAtStage: !values['no-stage-mount'] && !values['no-mount'],
    mount: !values['no-mount'],
    mountGroup: values['mount-group'],
    multiWriter: !values['no-multi-writer'],
    canExpand: !values['no-expand'],
    requirePodInfo: values['require-pod-info'],
    requireSecret: values['require-secret'],
    nodeId: values['node-id'],
    faults: FAULT_KINDS.flatMap((kind) => {
      const given = (values as Record<string, unknown>)[kind]
      return Array.isArray(given) ? given.map((text) => parseFault(`${kind} ${text}`)) : []
    }),
  }
}
