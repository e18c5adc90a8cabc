/** CSI volumes set up with the real test driver: real devices, mounts and a driver that holds its client to the specification. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mountsAt } from '../../helpers/csi-driver/mounts.ts'
import {
  addVolume,
  claim,
  DRIVER,
  directories,
  handleOf,
  OTHER,
  POD,
  states,
  withDriver,
} from '../../helpers/csi-scene.ts'
import { runScenario } from '../../helpers/scenario.ts'

await runScenario({
  fileSystem: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      const seen: Record<string, unknown> = {}
      addVolume(node, 'pv-1', { accessModes: ['ReadWriteMany'] })
      node.pod(POD, 'a', [claim('pv-1')])
      const pod = (uid: string): string => directories(node, 'pv-1', uid).pod
      const { global } = directories(node, 'pv-1')

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
      seen.gone = states(await node.apply({ orphans: true }))
      seen.left = [existsSync(global), existsSync(pod(POD))]

      seen.detached = node.attachments.length
      node.attach(DRIVER, handleOf('pv-1'), 'pv-1')
      node.pod(OTHER, 'b', [claim('pv-1')])
      seen.again = states(await node.apply())
      seen.data = readFileSync(`${pod(OTHER)}/mount/file`, 'utf8')
      seen.calls = driver.succeeded().filter((rpc) => /Stage|Publish/i.test(rpc))
      seen.violations = driver.violations()
      return seen
    }),
})
