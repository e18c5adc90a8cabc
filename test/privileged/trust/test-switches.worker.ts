/** The switches that tests have, in the environment of a volctl that stands on what is, or could be, a real node. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { runScenario } from '../../helpers/scenario.ts'
import { essence, NODE, type TrustNode, withNode, writeUnit } from './node.ts'
import { codeOf, type WatchedRun } from './watched-run.ts'

export interface Answer {
  readonly status: number | undefined
  readonly code: string | undefined
}

const answer = (run: WatchedRun): Answer => ({ status: run.status, code: codeOf(run) })

/** A machine that is said to be this one, with a kubelet that is said to stay down. */
function testHost(node: TrustNode, more: object = {}): NodeJS.ProcessEnv {
  const file = `${node.directory}/host.json`
  const host = {
    nodeName: NODE,
    rootDir: node.root,
    kubelet: { running: false, mayReturn: false, note: 'kubelet.service inactive; masked' },
    runtimeEndpoints: [],
    runtimeExpected: false,
    lockFile: `${node.directory}/apply.lock`,
    journalDir: `${node.directory}/journal`,
    kubeconfig: node.api.kubeconfig('admin'),
    ...more,
  }
  writeFileSync(file, JSON.stringify(host))
  return { VOLCTL_TEST_HOST: file }
}

async function planAndApply(node: TrustNode, env: NodeJS.ProcessEnv, args: readonly string[] = []) {
  const plan = answer(await node.volctl(['plan', '-o', 'json', ...args], { env }))
  const mounted = node.isMounted()
  const apply = answer(await node.volctl(['apply', '--yes', '-o', 'json', ...args], { env }))
  return { plan, apply, kept: mounted && node.isMounted() }
}

/** As a container has it: the node's root file system below a directory, and the kubelet's directory hidden. */
const CONTAINER = `
own=$HOST_ROOT_IN_TEST; mkdir -p "$own/host" && mount --rbind / "$own/host" && mount -t tmpfs hidden "$ROOT_IN_TEST" && exec "$@"`

await runScenario({
  /** Some kubelet's unit names the root directory. */
  unit: (directory) =>
    withNode(directory, { kubelet: 'none' }, async (node) => {
      const env = testHost(node)
      const without = answer(await node.volctl(['plan', '-o', 'json'], { env }))
      writeUnit(node.flags())
      const named = await planAndApply(node, env)
      writeUnit([`--root-dir=${node.root}/../root/`])
      const byAnotherPath = await planAndApply(node, env)
      return { without, named, byAnotherPath }
    }),

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
