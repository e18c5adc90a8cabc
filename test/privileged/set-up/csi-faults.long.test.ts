/** What goes wrong while a CSI volume is set up or taken down, with the real test driver: the state it ends in, and what the next apply makes of it. */
import { expect } from 'vitest'
import type { VolumeMode } from '../../../src/core/facts/actual/volume-names.ts'
import { loopDevices } from '../../../src/core/linux/block/device-use.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { unmountBelow } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { addVolume, claim, giveUpOn, handleOf, POD, present, presentBlock, withDriver } from '../csi-scene.ts'
import { describeUnless } from '../describe-unless.ts'

const ORPHANS = { orphans: true }
const STAGED = ['staged', 'stage file']
const ALL = [...STAGED, 'published', 'publish file']
const MAPPED = ['data file', 'staging', 'published', 'mapped', 'link', 'loop']
const TIMED_OUT = 'failed TimedOut'
const REFUSED = 'failed DriverFailed'
const AWAY = 'failed DriverUnavailable'

class Volume {
  readonly #node: LiveNode
  readonly #driver: CsiDriver
  readonly #mode: VolumeMode
  readonly name: string

  /** Wanted, and attached. */
  constructor(node: LiveNode, driver: CsiDriver, mode: VolumeMode) {
    this.name = `pv-${driver.log().length}`
    this.#node = node
    this.#driver = driver
    this.#mode = mode
    addVolume(node, this.name, { volumeMode: mode })
    node.pod(POD, 'a', [claim(this.name)], { devices: mode === 'Block' })
  }

  there(): string[] {
    return (this.#mode === 'Block' ? presentBlock : present)(this.#node, this.name)
  }

  /** An apply that meets a fault, which is over after it. */
  async meets(fault: string, options = {}): Promise<{ went: string[]; left: string[] }> {
    if (fault !== '') this.#driver.setFaults(fault)
    this.#node.context = giveUpOn(fault, this.#node)
    const went = await this.#node.applied(options)
    // The driver may still be at work on what was given up.
    const [, done] = /^hang-after Node(Stage|Publish)/.exec(fault) ?? []
    await until(() => done === undefined || this.there().includes(done === 'Stage' ? 'staged' : 'published'))
    this.#driver.setFaults()
    this.#node.context = {}
    const left = this.there()
    if (fault.startsWith('die')) await this.#driver.restart()
    return { went, left }
  }

  /** What its words say: a fault, `again` before it for one that publishes once more. */
  async happens(what: string): Promise<string[]> {
    if (what !== 'reboot') {
      const [, again, fault = ''] = /^(again )?(?:ok|(.*))$/.exec(what) ?? []
      return (await this.meets(fault, again === undefined ? {} : { remount: true, volumes: [this.name] })).went
    }
    await this.#driver.stop()
    const own = loopDevices().filter(({ backingFile }) => backingFile?.startsWith(`${this.#node.root}/`))
    for (const { name } of own) detachLoop(name)
    unmountBelow(this.#node.root)
    await this.#driver.restart()
    return []
  }

  /** Its pod is gone. @returns the calls that undo something of it, in order; what is left is an error */
  async gone(): Promise<string[]> {
    const before = this.#driver.log().length
    this.#node.forget(POD)
    await this.#node.apply(ORPHANS)
    expect([...this.there(), ...(await this.#node.operations(ORPHANS))]).toEqual([])
    return this.#driver
      .log()
      .slice(before)
      .flatMap(({ rpc, phase, request }) =>
        /^NodeUn/.test(rpc) && phase === 'begin' && request.volumeId === handleOf(this.name) ? [rpc] : [],
      )
  }
}

type Fault = readonly [fault: string, went: string, left: readonly string[], next?: readonly string[]]

/** Each fault on a volume of its own: what it leaves, and that the next apply comes to the end, and leaves nothing later. */
async function eachLeaves(
  node: LiveNode,
  driver: CsiDriver,
  mode: VolumeMode,
  faults: readonly Fault[],
  end: readonly string[],
) {
  for (const [fault, went, left, next = ['done']] of faults) {
    const volume = new Volume(node, driver, mode)
    expect(await volume.meets(fault), fault).toEqual({ went: [went], left })
    expect(await node.applied(), fault).toEqual(next)
    expect(volume.there(), fault).toEqual(end)
    expect(await node.operations()).toEqual([])
    await volume.gone()
  }
}

describeUnless(noBlockDevices, 'CSI that goes wrong', () => {
  it('waits for a call that is pending, and leaves all as it is where it stays so (C119)', ({ directory }) =>
    withDriver(directory, {}, async (node, driver) => {
      const pending = [
        ['fail NodeStageVolume=ABORTED:once', 'done', ALL, []],
        ['fail NodePublishVolume=ABORTED:2', 'done', ALL, []],
        ['fail NodePublishVolume=ABORTED', 'failed OperationPending', [...STAGED, 'publish file']],
      ] as const
      await eachLeaves(node, driver, 'Filesystem', pending, ALL)
      expect(driver.violations()).toEqual([])
    }))

  it('keeps the state file of what is staged where the driver mounts nothing for it (C51, C54)', ({ directory }) =>
    withDriver(directory, { mountAtStage: false }, async (node, driver) => {
      const faults = [
        ['fail NodePublishVolume=INTERNAL', REFUSED, ['stage file']],
        ['fail NodePublishVolume=UNAVAILABLE', AWAY, ['stage file', 'publish file']],
        ['fail NodeStageVolume=INTERNAL', REFUSED, []],
      ] as const
      await eachLeaves(node, driver, 'Filesystem', faults, ['stage file', 'published', 'publish file'])
      expect(driver.violations()).toEqual([])
    }))

  it('gives up what hangs, dies or lies, and goes on where it was', ({ directory }) =>
    withDriver(directory, {}, async (node, driver) => {
      const faults = [
        ['hang NodeStageVolume', TIMED_OUT, ['stage file']],
        ['hang-after NodeStageVolume', TIMED_OUT, STAGED],
        ['hang NodePublishVolume', TIMED_OUT, [...STAGED, 'publish file']],
        ['hang-after NodePublishVolume', TIMED_OUT, ALL, []],
        ['die NodeStageVolume:once', AWAY, ['stage file']],
        ['die-after NodeStageVolume:once', AWAY, STAGED],
        ['die NodePublishVolume:once', AWAY, [...STAGED, 'publish file']],
        ['die-after NodePublishVolume:once', AWAY, ALL, []],
        ['lie NodePublishVolume', REFUSED, [...STAGED, 'publish file']],
        // The driver's own next answer tells: it was never staged.
        ['lie NodeStageVolume', 'failed DriverRefused', ['stage file']],
      ] as const
      await eachLeaves(node, driver, 'Filesystem', faults, ALL)
      expect(driver.violations()).toMatchObject([
        { rpc: 'NodePublishVolume', text: expect.stringContaining('is not staged') },
      ])
    }))

  it('a raw block volume: what is left is what the rules say, and the next apply ends it (C72, C73)', ({ directory }) =>
    withDriver(directory, {}, async (node, driver) => {
      const faults = [
        ['fail NodeStageVolume=INTERNAL', REFUSED, []],
        ['fail NodePublishVolume=INTERNAL', REFUSED, ['data file', 'staging']],
        ['die-after NodePublishVolume:once', AWAY, ['data file', 'staging', 'published']],
      ] as const
      await eachLeaves(node, driver, 'Block', faults, MAPPED)
      expect(driver.violations()).toEqual([])
    }))

  it.for([
    // Nothing is removed after any error (C76, C80), and nothing that comes after it is done (S16, S21).
    ['fail NodeUnpublishVolume=INTERNAL', REFUSED, ALL],
    ['fail-after NodeUnpublishVolume=NOT_FOUND', 'failed VolumeNotFound', [...STAGED, 'publish file']],
    ['fail NodeUnpublishVolume=ABORTED', 'failed OperationPending', ALL],
    ['fail NodeUnstageVolume=UNAVAILABLE', AWAY, STAGED],
    ['fail-after NodeUnstageVolume=INTERNAL', REFUSED, ['stage file']],
  ] as const)(
    'taken down, %s: %s, always, and what is left stays so until it is over',
    ([fault, end, left], { directory }) =>
      withDriver(directory, {}, async (node, driver) => {
        const volume = new Volume(node, driver, 'Filesystem')
        await node.apply()
        node.forget(POD)
        for (let times = 0; times < 2; times++) {
          const { went, left: found } = await volume.meets(fault, ORPHANS)
          expect(found).toEqual(left)
          expect(went).toContain(end)
          expect(went).toContain(end.replace('failed', 'skipped'))
        }
        expect(new Set(await node.applied(ORPHANS))).toEqual(new Set(['done']))
        expect([...volume.there(), ...(await node.operations(ORPHANS)), ...driver.violations()]).toEqual([])
      }),
  )

  const unpublish = 'NodeUnpublishVolume'
  const unstage = 'NodeUnstageVolume'
  it.for(['Filesystem', 'Block'] as const)(
    '%s: of a pod that goes after it, exactly what may be there is undone',
    (mode, { directory }) => {
      const both = [unpublish, unstage]
      // Before anything of a raw volume is published, nothing on disk says for which pod that was tried (C13).
      const tried = mode === 'Block' ? [unstage] : both
      const again = {
        'ok, again hang NodePublishVolume': [['done', TIMED_OUT], both],
        'ok, again fail NodePublishVolume=INTERNAL': [['done', REFUSED], both],
      } as const
      const stories: Record<string, readonly [went: readonly string[], undone: readonly string[]]> = {
        'hang NodeStageVolume': [[TIMED_OUT], [unstage]],
        'fail NodeStageVolume=INTERNAL': [[REFUSED], []],
        // The first call may still be at work for all that the second one says (C120).
        'hang NodeStageVolume, fail NodeStageVolume=INTERNAL': [[TIMED_OUT, REFUSED], [unstage]],
        'hang-after NodePublishVolume': [[TIMED_OUT], both],
        'fail NodePublishVolume=INTERNAL': [[REFUSED], [unstage]],
        'hang NodePublishVolume, fail NodePublishVolume=INTERNAL': [[TIMED_OUT, REFUSED], tried],
        'ok, reboot': [['done'], both],
        'ok, reboot, fail NodeStageVolume=INTERNAL': [['done', REFUSED], both],
        'ok, reboot, fail NodePublishVolume=INTERNAL': [['done', REFUSED], both],
        // What is published once more is a file system.
        ...(mode === 'Block' ? {} : again),
      }
      return withDriver(directory, { spec: { requiresRepublish: true } }, async (node, driver) => {
        for (const [story, [went, undone]] of Object.entries(stories)) {
          const volume = new Volume(node, driver, mode)
          const seen: string[] = []
          for (const what of story.split(', ')) seen.push(...(await volume.happens(what)))
          expect({ went: seen, undone: await volume.gone() }, story).toEqual({ went, undone })
        }
        expect(driver.violations()).toEqual([])
      })
    },
  )
})
