/**
 * An apply is killed before one change after another, in a process of its own, and the next one goes on from there. Two
 * phases: a pod's volumes are brought up to date, and what a pod that is gone has left is undone.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { OperationKind, PlanOptions } from '../../../src/core/plan/plan.ts'
import { addVolume, blockLink, claim, directories, nodeWithDriver, POD, withDriver } from '../../helpers/csi-scene.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { change, counted, killBefore } from '../../helpers/mortal/start.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { strategicMerge } from '../../helpers/strategic-merge.ts'

const MIB = 1024 * 1024
const RAW = 'raw'
const FILES = 'files'
/** What each of the two phases asks for. */
const OPTIONS: Readonly<Record<string, Partial<PlanOptions>>> = {
  refresh: { remount: true, expand: true },
  undo: { orphans: true },
}

/**
 * What is killed before: every system call that changes something; or, where there are many of them, every step of the
 * kinds of operations that nobody else kills (kinds.ts).
 */
const EVERY_CHANGE: Readonly<Record<string, boolean>> = { refresh: true, undo: process.env.VOLCTL_FAULTS === 'all' }
const STEPS_OF = new Set<OperationKind | undefined>(['CleanOrphanVolume', 'UnmapVolume', 'UnmapDevice'])

/** What the API server keeps, whoever is killed. */
interface Api {
  readonly text: string
  readonly capacity: string
  readonly status: NonNullable<LiveNode['claims'][number]['status']>
  readonly wanted: boolean
  readonly attachments: LiveNode['attachments']
  readonly node: LiveNode['node']
}

function save(file: string, api: Api): void {
  writeFileSync(file, JSON.stringify(api))
}

function load(file: string): Api {
  return JSON.parse(readFileSync(file, 'utf8')) as Api
}

/** A node as this API server has it. */
function nodeOf(directory: string, api: Api): LiveNode {
  const node = nodeWithDriver(directory)
  show(node, api)
  return node
}

function show(node: LiveNode, { text, capacity, status, wanted, attachments, node: object }: Api): void {
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

const pending = (capacity: string, grown: string): Api['status'] => ({
  phase: 'Bound',
  capacity: { storage: capacity },
  allocatedResources: { storage: grown },
  allocatedResourceStatuses: { storage: 'NodeResizePending' },
})

/** What is not as it should be after an apply. */
async function settle(node: LiveNode, phase: string): Promise<string[]> {
  const { outcomes, left = [] } = await node.apply(OPTIONS[phase])
  return [
    ...outcomes.filter(({ state }) => state !== 'done').map(({ kind, code, message }) => `${kind} ${code}: ${message}`),
    ...left.map(({ kind }) => `${kind} is left`),
  ]
}

interface Killed {
  readonly kills: number
  /** Of the operations that were planned. */
  readonly kinds: readonly OperationKind[]
  readonly problems: readonly string[]
}

/**
 * @param prepare the node before each kill; returns what the API shows
 * @param judge what is not as it should be in the end
 */
async function everywhere(
  phase: string,
  file: string,
  node: LiveNode,
  { prepare, judge }: { prepare: (round: number) => Promise<Api>; judge: (api: Api) => readonly string[] },
): Promise<Killed> {
  const kinds = new Set<OperationKind>()
  const problems: string[] = []
  for (let round = 0; ; round++) {
    const api = await prepare(round)
    show(node, api)
    save(file, api)
    if (round === 0) for (const { kind } of (await node.plan(OPTIONS[phase])).operations) kinds.add(kind)
    const killed = await killBefore(round, EVERY_CHANGE[phase] ? node.root : undefined, ['victim', phase, file])
    const now = load(file)
    show(node, now)
    const found = [...(await settle(node, phase)), ...judge(api)]
    problems.push(...found.map((problem) => `${phase}, killed at ${round}: ${problem}`))
    if (!killed) return { kills: round, kinds: [...kinds], problems }
  }
}

await runScenario({
  killed: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      const file = `${directory}/api.json`
      const begin = nodeWithDriver(directory)
      for (const volume of [RAW, FILES]) addVolume(begin, volume)
      const fresh = { attachments: begin.attachments, node: begin.node }
      const up = (round: number): Api => {
        const capacity = `${16 + round}Mi`
        const status = { phase: 'Bound', capacity: { storage: capacity } }
        return { text: `text ${round}`, capacity, status, wanted: true, ...fresh }
      }
      const content = `${directories(node, FILES).pod}/mount/file`
      show(node, up(0))
      await node.apply()
      writeFileSync(content, 'precious')
      writeFileSync(blockLink(node, RAW), 'precious')

      const refresh = await everywhere('refresh', file, node, {
        prepare: async (round) => {
          const [now, next] = [up(round), up(round + 1)]
          return { ...now, text: next.text, capacity: next.capacity, status: pending(now.capacity, next.capacity) }
        },
        judge: ({ text, capacity }) => {
          const conf = `${node.root}/pods/${POD}/volumes/kubernetes.io~configmap/conf`
          const shown = {
            text: readFileSync(`${conf}/text`, 'utf8'),
            names: readdirSync(conf).length,
            size: Number(sh('blockdev', '--getsize64', blockLink(node, RAW))) / MIB,
            claim: node.claims[0]?.status?.capacity?.storage,
            file: readFileSync(content, 'utf8'),
          }
          const want = { text, names: 3, size: Number.parseInt(capacity, 10), claim: capacity, file: 'precious' }
          return JSON.stringify(shown) === JSON.stringify(want) ? [] : [JSON.stringify(shown)]
        },
      })

      const undo = await everywhere('undo', file, node, {
        prepare: async (round) => {
          const api = up(refresh.kills + 1)
          show(node, api)
          await node.apply()
          if (round > 0 && readFileSync(content, 'utf8') !== 'precious') throw new Error('the content is another')
          // Its record is lost: what is left of it is an orphan.
          rmSync(`${directories(node, FILES).pod}/vol_data.json`)
          return { ...api, wanted: false }
        },
        judge: () => [
          ...readdirSync(`${node.root}/pods`).filter((name) => name === POD),
          ...node
            .mounts()
            .under(node.root)
            .map(({ mountPoint }) => mountPoint),
          ...node.attachments.map(({ metadata }) => metadata.name),
        ],
      })
      show(node, up(refresh.kills + 1))
      await node.apply()
      const kept = [readFileSync(content, 'utf8'), readFileSync(blockLink(node, RAW)).subarray(0, 8).toString()]
      return { refresh, undo, kept, violations: driver.violations() }
    }),

  async victim(directory, [phase = '', file = '']) {
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
  },
})
