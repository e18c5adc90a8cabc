/** CSI volumes set up with the real test driver: real devices, mounts and a driver that holds its client to the specification. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { ApplyResult } from '../../../src/core/apply/events.ts'
import { csiGlobalDir } from '../../../src/core/names.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { mountsAt } from '../../helpers/csi-driver/mounts.ts'
import { type CsiDriver, startCsiDriver } from '../../helpers/csi-driver/start.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const DRIVER = 'disk.test'

/** A node with the driver; ended and cleaned up after it. */
async function withDriver<T>(
  directory: string,
  flags: readonly string[],
  work: (node: LiveNode, driver: CsiDriver) => Promise<T>,
): Promise<T> {
  const node = new LiveNode(directory)
  const options = { name: DRIVER, rootDir: node.root, stateDir: `${directory}/state`, flags }
  const driver = await startCsiDriver(options)
  node.csiDrivers.push({
    metadata: { name: DRIVER, uid: 'driver-uid' },
    spec: { attachRequired: true, volumeLifecycleModes: ['Persistent'], fsGroupPolicy: 'ReadWriteOnceWithFSType' },
  })
  try {
    return await work(node, driver)
  } finally {
    await driver.dispose()
  }
}

/** A bound, attached volume. */
function volume(node: LiveNode, name: string, accessModes = ['ReadWriteOnce']): void {
  node.persistentVolume(name, { accessModes, csi: { driver: DRIVER, volumeHandle: `handle/${name}`, fsType: 'ext4' } })
  node.attach(DRIVER, `handle/${name}`, name)
}

function claim(name: string, readOnly = false) {
  return { name: 'data', persistentVolumeClaim: { claimName: `claim-${name}`, readOnly } }
}

const states = (result: ApplyResult): string[] => Object.values(statesOf(result))

await runScenario({
  fileSystem: (directory) =>
    withDriver(directory, [], async (node, driver) => {
      const seen: Record<string, unknown> = {}
      volume(node, 'pv-1', ['ReadWriteMany'])
      node.pod(POD, 'a', [claim('pv-1')])
      const pod = (uid: string): string => `${node.root}/pods/${uid}/volumes/kubernetes.io~csi/pv-1`
      const global = `${node.root}/${csiGlobalDir(DRIVER, 'handle/pv-1')}`

      seen.set = states(await node.apply())
      seen.mounts = [mountsAt(`${global}/globalmount`), mountsAt(`${pod(POD)}/mount`)]
      seen.files = [`${pod(POD)}/vol_data.json`, `${global}/vol_data.json`].map((path) => readFileSync(path, 'utf8'))
      writeFileSync(`${pod(POD)}/mount/file`, 'kept')
      seen.after = (await node.plan()).operations

      node.pod(OTHER, 'b', [claim('pv-1', true)])
      const second = await node.plan()
      seen.secondSteps = second.operations.flatMap(({ steps }) => steps.map(({ op }) => op))
      seen.second = states(await node.apply())
      seen.shared = readFileSync(`${pod(OTHER)}/mount/file`, 'utf8')
      try {
        writeFileSync(`${pod(OTHER)}/mount/file`, 'no')
      } catch (error) {
        seen.readOnly = (error as NodeJS.ErrnoException).code
      }
      seen.afterSecond = (await node.plan()).operations

      node.forget(OTHER)
      seen.oneGone = states(await node.apply({ orphans: true }))
      seen.stillThere = [mountsAt(`${global}/globalmount`), mountsAt(`${pod(POD)}/mount`)]
      node.forget(POD)
      seen.gone = states(await node.apply({ orphans: true, skip: ['DetachVolume'] }))
      seen.left = [existsSync(global), existsSync(pod(POD))]

      node.pod(OTHER, 'b', [claim('pv-1')])
      seen.again = states(await node.apply())
      seen.data = readFileSync(`${pod(OTHER)}/mount/file`, 'utf8')
      seen.calls = driver.succeeded().filter((rpc) => /Stage|Publish/i.test(rpc))
      seen.violations = driver.violations()
      return seen
    }),
})
