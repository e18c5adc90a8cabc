/** Variables by which volctl could be misled, in the environment of one that stands on a real node. */
import { existsSync, mkdirSync } from 'node:fs'
import { runScenario } from '../../helpers/scenario.ts'
import { essence, withNode } from './node.ts'

/** As a container has it: the node's root file system below a directory, and the kubelet's directory hidden. */
const CONTAINER = `
own=$HOST_ROOT_IN_TEST; mkdir -p "$own/host" && mount --rbind / "$own/host" && mount -t tmpfs hidden "$ROOT_IN_TEST" && exec "$@"`

await runScenario({
  /** What volctl tells itself when it goes into another namespace, said by somebody else. */
  ownVariables: (directory) =>
    withNode(directory, {}, async (node) => {
      const script = `exec unshare -m --propagation slave sh -c '${CONTAINER}' sh "$@"`
      const own = `${directory}/container`
      const inContainer = async (env: NodeJS.ProcessEnv): Promise<unknown> => {
        const args = ['plan', '-o', 'json', '--host-root', `${own}/host`, '--kubeconfig', node.api.kubeconfig('admin')]
        const run = await node.volctl(args, {
          script,
          env: { HOST_ROOT_IN_TEST: own, ROOT_IN_TEST: node.root, ...env },
        })
        return { status: run.status, stderr: run.stderr, says: essence(run) }
      }
      const [here, there] = [`${directory}/here`, `${directory}/there`]
      for (const each of [here, there]) mkdirSync(each)
      const other = await node.start({ name: 'other', cwd: there })
      const saved = async (env: NodeJS.ProcessEnv): Promise<unknown> => {
        const args = ['plan', '-o', 'json', '--out', 'saved.plan', '--kubeconfig', node.api.kubeconfig('admin')]
        const run = await node.volctl(args, { cwd: here, env })
        return {
          status: run.status,
          says: essence(run),
          here: existsSync(`${here}/saved.plan`),
          there: existsSync(`${there}/saved.plan`),
        }
      }
      const lies = (pid: number): NodeJS.ProcessEnv[] => [
        { VOLCTL_REENTERED: '1' },
        { VOLCTL_REENTERED: '2' },
        { VOLCTL_CALLER: `/proc/${pid}` },
        { VOLCTL_CALLER: `/proc/${pid}`, VOLCTL_REENTERED: '1' },
      ]
      const report = { container: await inContainer({}), saved: await saved({}), lies: [] as unknown[] }
      for (const env of lies(other.pid ?? 0))
        report.lies.push({ container: await inContainer(env), saved: await saved(env) })
      return report
    }),
})
