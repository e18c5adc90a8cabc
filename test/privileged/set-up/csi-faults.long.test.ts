/**
 * What goes wrong while a CSI volume is set up, with the real test driver: how each apply ends, and what is undone once the pod is gone.
 * What each answer of a driver leaves on the disk: test/apply/csi-bring-up.test.ts, and of one that takes down, steps.test.ts.
 */
import { expect } from 'vitest'
import { loopDevices } from '../../../src/core/linux/block/device-use.ts'
import type { VolumeMode } from '../../../src/core/volumes/volume-names.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { type LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { unmountBelow } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { addVolume, claim, giveUpOn, handleOf, present, presentBlock, withDriver } from '../csi-scene.ts'
import { describeUnless } from '../describe-unless.ts'

const ORPHANS = { orphans: true }
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

  #there(): string[] {
    return (this.#mode === 'Block' ? presentBlock : present)(this.#node, this.name)
  }

  /** `ok`, `reboot`, or a fault that an apply meets and that is over after it. */
  async happens(what: string): Promise<string[]> {
    if (what === 'reboot') return await this.#reboot()
    const fault = what === 'ok' ? '' : what
    if (fault !== '') this.#driver.setFaults(fault)
    this.#node.context = giveUpOn(fault, this.#node)
    const went = await this.#node.applied()
    // The driver may still be at work on what was given up.
    await until(() => !fault.startsWith('hang-after') || this.#there().includes('published'))
    this.#driver.setFaults()
    this.#node.context = {}
    if (fault.startsWith('die')) await this.#driver.restart()
    return went
  }

  async #reboot(): Promise<[]> {
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
    expect([...this.#there(), ...(await this.#node.operations(ORPHANS))]).toEqual([])
    return this.#driver
      .log()
      .slice(before)
      .flatMap(({ rpc, phase, request }) =>
        /^NodeUn/.test(rpc) && phase === 'begin' && request.volumeId === handleOf(this.name) ? [rpc] : [],
      )
  }
}

describeUnless(noBlockDevices, 'CSI that goes wrong', () => {
  const unpublish = 'NodeUnpublishVolume'
  const unstage = 'NodeUnstageVolume'
  it.for<{ readonly mode: VolumeMode; readonly mountAtStage: boolean }>([
    { mode: 'Filesystem', mountAtStage: true },
    // What is staged is on record alone (C51, C54).
    { mode: 'Filesystem', mountAtStage: false },
    { mode: 'Block', mountAtStage: true },
  ])(
    '$mode, mounted where it is staged: $mountAtStage: of a pod that goes after it, exactly what may be there is undone',
    ({ mode, mountAtStage }, { directory }) => {
      const both = [unpublish, unstage]
      // Before anything of a raw volume is published, nothing on disk says for which pod that was tried (C13).
      const tried = mode === 'Block' ? [unstage] : both
      const stories: Record<string, readonly [went: readonly string[], undone: readonly string[]]> = {
        'hang NodeStageVolume': [[TIMED_OUT], [unstage]],
        'fail NodeStageVolume=INTERNAL': [[REFUSED], []],
        // The first call may still be at work for all that the second one says (C120).
        'hang NodeStageVolume, fail NodeStageVolume=INTERNAL': [[TIMED_OUT, REFUSED], [unstage]],
        'die-after NodeStageVolume:once, ok': [[AWAY, 'done'], both],
        'hang-after NodePublishVolume': [[TIMED_OUT], both],
        'fail NodePublishVolume=INTERNAL': [[REFUSED], [unstage]],
        'hang NodePublishVolume, fail NodePublishVolume=INTERNAL': [[TIMED_OUT, REFUSED], tried],
        // It is waited for (C119).
        'fail NodePublishVolume=ABORTED:2': [['done'], both],
        'fail NodePublishVolume=ABORTED': [['failed OperationPending'], tried],
        'lie NodePublishVolume': [[REFUSED], tried],
        // The driver's own next answer tells: it was never staged.
        'lie NodeStageVolume': [['failed DriverRefused'], [unstage]],
        'ok, reboot': [['done'], both],
        'ok, reboot, fail NodeStageVolume=INTERNAL': [['done', REFUSED], both],
        'ok, reboot, fail NodePublishVolume=INTERNAL': [['done', REFUSED], both],
      }
      return withDriver(directory, { mountAtStage }, async (node, driver) => {
        for (const [story, [went, undone]] of Object.entries(stories)) {
          const volume = new Volume(node, driver, mode)
          const seen: string[] = []
          for (const what of story.split(', ')) seen.push(...(await volume.happens(what)))
          expect({ went: seen, undone: await volume.gone() }, story).toEqual({ went, undone })
        }
        expect(driver.violations()).toMatchObject([
          { rpc: 'NodePublishVolume', text: expect.stringContaining('is not staged') },
        ])
      })
    },
  )
})
