/** emptyDir, set up with real directories and mounts. */
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'

await runScenario({
  async disk(directory) {
    const node = new LiveNode(directory)
    node.pod(POD, 'a', [{ name: 'scratch', emptyDir: {} }])
    const dir = `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/scratch`
    const result = await node.apply()
    const mode = (lstatSync(dir).mode & 0o7777).toString(8)
    const after = await node.plan()
    writeFileSync(`${dir}/file`, 'data')
    node.forget(POD)
    const gone = await node.apply({ orphans: true })
    return {
      states: Object.values(statesOf(result)),
      mode,
      after: after.operations,
      gone: Object.values(statesOf(gone)),
      left: (await node.plan({ orphans: true })).operations,
    }
  },

  async fileInTheWay(directory) {
    const node = new LiveNode(directory)
    node.pod(POD, 'a', [{ name: 'scratch', emptyDir: {} }])
    const parent = `${node.root}/pods/${POD}/volumes`
    mkdirSync(parent, { recursive: true })
    writeFileSync(`${parent}/kubernetes.io~empty-dir`, 'not a directory')
    return Object.values(statesOf(await node.apply()))
  },
})
