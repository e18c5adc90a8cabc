/** The kubelet has a mount namespace of its own: whose files are those that are named, by whom, and from where. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { execKubeconfig } from './kubeconfigs.ts'
import { essence, type TrustNode, withNode } from './node.ts'

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'slave']

interface Place {
  readonly node: TrustNode
  /** Where volctl is typed; in the kubelet's namespace something else is there. */
  readonly here: string
  /** Runs it in the kubelet's namespace. */
  inside(command: string): string
  /** Does the kubelet's namespace have this file. */
  there(path: string): boolean
}

/** @param flags of the kubelet, which may be relative to its directory */
async function elsewhere<T>(
  directory: string,
  use: (place: Place) => Promise<T>,
  flags?: (node: TrustNode, own: string) => readonly string[],
): Promise<T> {
  return await withNode(directory, { kubelet: 'none' }, async (node) => {
    const [here, own] = [`${directory}/here`, `${directory}/kubelet-directory`]
    for (const each of [here, own]) mkdirSync(each)
    const kubelet = await node.start({
      name: 'kubelet',
      flags: flags?.(node, own) ?? node.flags(),
      cwd: own,
      through: OWN_MOUNTS,
      inside: `mount -t tmpfs -o mode=755 tmpfs ${here}`,
    })
    const inside = (command: string): string =>
      sh('nsenter', `--mount=/proc/${kubelet.pid}/ns/mnt`, 'sh', '-c', command)
    const there = (path: string): boolean => inside(`test -e ${path} && echo yes || echo no`) === 'yes'
    return await use({ node, here, inside, there })
  })
}

await runScenario({
  /** What was typed. */
  typed: (directory) =>
    elsewhere(directory, async ({ node, here, inside, there }) => {
      copyFileSync(node.api.kubeconfig('admin'), `${here}/admin.kubeconfig`)
      mkdirSync(`${here}/below`)
      const given = ['--kubeconfig', '../admin.kubeconfig', '-o', 'json']
      const cwd = `${here}/below`
      const plan = await node.volctl(['plan', ...given, '--out', 'saved.plan'], { cwd })
      const absolute = await node.volctl(['plan', '-o', 'json', '--kubeconfig', `${here}/admin.kubeconfig`], { cwd })
      const environment = await node.volctl(['plan', '-o', 'json'], { cwd, env: { KUBECONFIG: '../admin.kubeconfig' } })
      const snapshot = await node.volctl(['snapshot', '--kubeconfig', '../admin.kubeconfig', '-o', './s.json'], { cwd })
      // While it is mounted where this was typed, too, nothing is ready (R036).
      sh('umount', node.volume)
      inside(`mount -t tmpfs tmpfs ${node.volume}`)
      const apply = await node.volctl(['apply', '--yes', ...given, '--journal', `${here}/journal`], { cwd })
      const files = [`${cwd}/saved.plan`, `${cwd}/s.json`, `${here}/journal/journal.jsonl`]
      return {
        status: [plan, absolute, environment, snapshot, apply].map(({ status }) => status),
        stderr: [absolute, environment, apply].map(({ stderr }) => stderr).join(''),
        same: [absolute, environment].every((run) => JSON.stringify(essence(run)) === JSON.stringify(essence(plan))),
        here: files.map((file) => existsSync(file)),
        there: files.map(there),
        journal: await node
          .volctl(['journal', '-o', 'json', '--journal', `${here}/journal`])
          .then(({ stdout }) => (JSON.parse(stdout) as { applies: unknown[] }).applies.length),
      }
    }),

  /** What the kubelet was told, in its own directory; where volctl stands lies something else of that name. */
  kubelets: (directory) =>
    elsewhere(
      directory,
      async ({ node, here }) => {
        const plugin = node.marker.program(`${directory}/plugin`)
        writeFileSync(`${here}/own.kubeconfig`, execKubeconfig('https://127.0.0.1:1', plugin), { mode: 0o600 })
        const run = await node.volctl(['plan', '-o', 'json'], { cwd: here })
        return { status: run.status, stderr: run.stderr, says: essence(run), ran: node.marker.read() }
      },
      (node, own) => {
        const [root, , name] = node.flags() as [string, string, string]
        sh(
          'sh',
          '-c',
          `cp -p ${node.api.directory}/kubelet* ${own}/ && mv ${own}/kubelet.kubeconfig ${own}/own.kubeconfig`,
        )
        return [root, '--kubeconfig=own.kubeconfig', name]
      },
    ),

  /** The same of one that stands where volctl stands. */
  kubeletsHere: (directory) =>
    withNode(directory, { kubelet: 'none' }, async (node) => {
      const [here, own] = [`${directory}/here`, `${directory}/kubelet-directory`]
      for (const each of [here, own]) mkdirSync(each)
      sh(
        'sh',
        '-c',
        `cp -p ${node.api.directory}/kubelet* ${own}/ && mv ${own}/kubelet.kubeconfig ${own}/own.kubeconfig`,
      )
      const plugin = node.marker.program(`${directory}/plugin`)
      writeFileSync(`${here}/own.kubeconfig`, execKubeconfig('https://127.0.0.1:1', plugin), { mode: 0o600 })
      const [root, , name] = node.flags() as [string, string, string]
      await node.start({ name: 'kubelet', flags: [root, '--kubeconfig=own.kubeconfig', name], cwd: own })
      const run = await node.volctl(['plan', '-o', 'json'], { cwd: here })
      return { status: run.status, stderr: run.stderr, says: essence(run), ran: node.marker.read() }
    }),
})
