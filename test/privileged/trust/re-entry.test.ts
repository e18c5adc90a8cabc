/** S33, S6: a path means the file of the namespace and the directory in which it was said. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { execKubeconfig } from './kubeconfigs.ts'
import { essence, startNode } from './node.ts'

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'slave']

describeUnless(noRoot, 'a kubelet with a mount namespace of its own', () => {
  it('S33: what was typed are files of the place where it was typed', async ({ directory }) => {
    await using node = await startNode(directory, 'none')
    const [here, cwd] = [`${directory}/here`, `${directory}/here/below`]
    mkdirSync(cwd, { recursive: true })
    const kubelet = await node.start({
      name: 'kubelet',
      flags: node.flags(),
      through: OWN_MOUNTS,
      // Where volctl is typed something else is, in the kubelet's namespace.
      inside: `mount -t tmpfs -o mode=755 tmpfs ${here}`,
    })
    const inside = (command: string) => sh('nsenter', `--mount=/proc/${kubelet.pid}/ns/mnt`, 'sh', '-c', command)
    copyFileSync(node.api.kubeconfig('admin'), `${here}/admin.kubeconfig`)
    const given = ['--kubeconfig', '../admin.kubeconfig', '-o', 'json']
    const plan = await node.volctl(['plan', ...given, '--out', 'saved.plan'], { cwd })
    const absolute = await node.volctl(['plan', '-o', 'json', '--kubeconfig', `${here}/admin.kubeconfig`], { cwd })
    const environment = await node.volctl(['plan', '-o', 'json'], { cwd, env: { KUBECONFIG: '../admin.kubeconfig' } })
    const snapshot = await node.volctl(['snapshot', '--kubeconfig', '../admin.kubeconfig', '-o', './s.json'], { cwd })
    // While it is mounted where this was typed, too, nothing is ready (R036).
    sh('umount', node.volume)
    inside(`mount -t tmpfs tmpfs ${node.volume}`)
    const apply = await node.volctl(['apply', '--yes', ...given, '--journal', `${here}/journal`], { cwd })
    const runs = [plan, absolute, environment, snapshot, apply]
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0])
    expect([absolute, environment, apply].map(({ stderr }) => stderr).join('')).toBe('')
    expect([essence(absolute), essence(environment)]).toEqual([essence(plan), essence(plan)])
    const files = [`${cwd}/saved.plan`, `${cwd}/s.json`, `${here}/journal/journal.jsonl`]
    expect(files.map((file) => existsSync(file))).toEqual([true, true, true])
    expect(files.map((file) => inside(`test -e ${file} && echo yes || echo no`))).toEqual(['no', 'no', 'no'])
    const journal = await node.volctl(['journal', '-o', 'json', '--journal', `${here}/journal`])
    expect(JSON.parse(journal.stdout).applies).toHaveLength(1)
  })

  it.for<readonly [string, readonly string[]]>([
    ['elsewhere', OWN_MOUNTS],
    ['here', []],
  ])(
    "S33: the kubelet's relative --kubeconfig is that of its own directory (%s)",
    async ([, through], { directory }) => {
      await using node = await startNode(directory, 'none')
      const [here, own] = [`${directory}/here`, `${directory}/kubelet-directory`]
      for (const each of [here, own]) mkdirSync(each)
      const copy = `cp -p ${node.api.directory}/kubelet* ${own}/ && mv ${own}/kubelet.kubeconfig ${own}/own.kubeconfig`
      sh('sh', '-c', copy)
      // Where volctl stands lies something else of that name.
      const plugin = node.marker.program(`${directory}/plugin`)
      writeFileSync(`${here}/own.kubeconfig`, execKubeconfig('https://127.0.0.1:1', plugin), { mode: 0o600 })
      const [root, , name] = node.flags() as [string, string, string]
      await node.start({ name: 'kubelet', flags: [root, '--kubeconfig=own.kubeconfig', name], cwd: own, through })
      const run = await node.volctl(['plan', '-o', 'json'], { cwd: here })
      expect({ status: run.status, stderr: run.stderr, ran: node.marker.read() }).toEqual({
        status: 0,
        stderr: '',
        ran: '',
      })
      expect(essence(run)).toMatchObject({ node: 'node-1', pods: { gone: 1 } })
    },
  )
})
