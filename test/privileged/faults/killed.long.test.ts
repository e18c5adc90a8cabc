/**
 * An apply is killed before one change after another, in a process of its own, and the next one goes on from there. Two
 * phases: a pod's volumes are brought up to date, and what a pod that is gone has left is undone.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import type { OperationKind } from '../../../src/core/plan/plan.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { killBefore } from '../../helpers/mortal/start.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { addVolume, blockLink, directories, nodeWithDriver, POD, withDriver } from '../csi-scene.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Api, EVERY_CHANGE, FILES, load, OPTIONS, RAW, save, show } from './killed.worker.ts'

const VICTIM = new URL('./killed.worker.ts', import.meta.url)
const MIB = 1024 * 1024

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
    const killed = await killBefore(round, EVERY_CHANGE[phase] ? node.root : undefined, VICTIM, [
      dirname(node.root),
      phase,
      file,
    ])
    const now = load(file)
    show(node, now)
    const found = [...(await settle(node, phase)), ...judge(api)]
    problems.push(...found.map((problem) => `${phase}, killed at ${round}: ${problem}`))
    if (!killed) return { kills: round, kinds: [...kinds], problems }
  }
}

describeUnless(noBlockDevices, 'an apply is killed', () => {
  it('before any change of RemountVolume or ExpandVolume, or any step of CleanOrphanVolume, UnmapVolume or UnmapDevice: the next one does the rest', async ({
    directory,
  }) => {
    await withDriver(directory, {}, async (node, driver) => {
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
      expect([...refresh.problems, ...undo.problems]).toEqual([])
      expect(refresh.kinds).toEqual(['RemountVolume', 'ExpandVolume'])
      expect(undo.kinds).toEqual(expect.arrayContaining(['CleanOrphanVolume', 'UnmapVolume', 'UnmapDevice']))
      for (const { kills } of [refresh, undo]) expect(kills).toBeGreaterThan(10)
      expect(kept).toEqual(['precious', 'precious'])
      // The driver was asked as the specification wants.
      expect(driver.violations()).toEqual([])
    })
  })
})
