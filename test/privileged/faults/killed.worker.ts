/** An apply that is killed before one of its changes (helpers/mortal), on a node whose API server's objects are in a file. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { OperationKind, PlanOptions } from '../../../src/core/plan/plan.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { change, counted } from '../../helpers/mortal/start.ts'
import { strategicMerge } from '../../helpers/strategic-merge.ts'
import { addVolume, claim, nodeWithDriver, POD } from '../csi-scene.ts'

export const RAW = 'raw'
export const FILES = 'files'
/** What each of the two phases asks for. */
export const OPTIONS: Readonly<Record<string, Partial<PlanOptions>>> = {
  refresh: { remount: true, expand: true },
  undo: { orphans: true },
}

/**
 * What is killed before: every system call that changes something; or, where there are many of them, every step of the
 * kinds of operations that nobody else kills (kinds.ts).
 */
export const EVERY_CHANGE: Readonly<Record<string, boolean>> = {
  refresh: true,
  undo: process.env.VOLCTL_FAULTS === 'all',
}
const STEPS_OF = new Set<OperationKind | undefined>(['CleanOrphanVolume', 'UnmapVolume', 'UnmapDevice'])

/** What the API server keeps, whoever is killed. */
export interface Api {
  readonly text: string
  readonly capacity: string
  readonly status: NonNullable<LiveNode['claims'][number]['status']>
  readonly wanted: boolean
  readonly attachments: LiveNode['attachments']
  readonly node: LiveNode['node']
}

export function save(file: string, api: Api): void {
  writeFileSync(file, JSON.stringify(api))
}

export function load(file: string): Api {
  return JSON.parse(readFileSync(file, 'utf8')) as Api
}

/** A node as this API server has it. */
function nodeOf(directory: string, api: Api): LiveNode {
  const node = nodeWithDriver(directory)
  show(node, api)
  return node
}

export function show(node: LiveNode, { text, capacity, status, wanted, attachments, node: object }: Api): void {
  node.configMaps.splice(0, 1, { metadata: { name: 'cm', namespace: 'default', uid: 'cm' }, data: { text } })
  node.claims.length = 0
  node.attachments = []
  node.volumes.length = 0
  addVolume(node, RAW, { volumeMode: 'Block', capacity: { storage: capacity } })
  addVolume(node, FILES)
  node.setClaimStatus(`claim-${RAW}`, status)
  node.attachments = attachments
  node.node = object
  node.forget(POD)
  if (!wanted) return
  const container = {
    name: 'c',
    volumeMounts: [
      { name: 'conf', mountPath: '/conf' },
      { name: FILES, mountPath: '/files' },
    ],
    volumeDevices: [{ name: RAW, devicePath: '/dev/raw' }],
  }
  const volumes = [
    { name: 'conf', configMap: { name: 'cm' } },
    { ...claim(RAW), name: RAW },
    { ...claim(FILES), name: FILES },
  ]
  node.pod(POD, 'a', volumes, { containers: [container] })
}

async function victim(directory: string, phase: string, file: string): Promise<void> {
  const api = load(file)
  const node = nodeOf(directory, api)
  const beforeCall = EVERY_CHANGE[phase] ? change : () => {}
  const keep = (): void => {
    save(file, {
      ...api,
      status: node.claims[0]?.status ?? api.status,
      attachments: node.attachments,
      node: node.node,
    })
  }
  node.cluster = {
    patchClaimStatus: async (_namespace, name, patch) => {
      beforeCall()
      const status = node.claims[0]?.status ?? {}
      node.setClaimStatus(name, strategicMerge(status, patch.status))
      keep()
      return node.claims[0] as LiveNode['claims'][number]
    },
    deleteVolumeAttachment: async (name) => {
      beforeCall()
      node.attachments = node.attachments.filter(({ metadata }) => metadata.name !== name)
      keep()
    },
  }
  node.context = { parallel: 1 }
  if (EVERY_CHANGE[phase]) node.context = { parallel: 1, csi: async (name) => counted(await node.csiNode(name)) }
  await node.apply(OPTIONS[phase], ({ type, kind }) => {
    if (!EVERY_CHANGE[phase] && type === 'step' && STEPS_OF.has(kind)) change()
  })
}

const [directory, phase = '', file = ''] = process.argv.slice(2)
if (process.env.MORTAL_CHANGES !== undefined && directory !== undefined) await victim(directory, phase, file)
