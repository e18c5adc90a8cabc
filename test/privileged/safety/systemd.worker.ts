/**
 * The built volctl beside a kubelet that a real systemd starts, stops, restarts and forgets (S11). What systemd says is
 * its own; only the lease is put in place, since the kubelet is a shell that bears the name.
 */
import { mkdirSync } from 'node:fs'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { LIVES, named, unitText as unit } from '../../helpers/systemd/kubelet-unit.ts'
import { startSystemd, type TestSystemd } from '../../helpers/systemd/start.ts'
import { NODE, nodeObject, type TrustNode, withNode } from '../trust/node.ts'

/** What volctl says and does in one situation. */
export interface Seen {
  readonly kubelet: Plan['inputs']['kubelet']
  /** Why the device that nobody wants has to wait. */
  readonly waiting: readonly string[]
  /** What the plan would do. */
  readonly kinds: readonly string[]
  /** By an apply. */
  readonly status: number | undefined
  readonly left: boolean
}

interface Place {
  readonly node: TrustNode
  readonly systemd: TestSystemd
  /** A file system that is mounted for all pods, and that none wants. */
  readonly device: string
  /** The kubelet's command line. */
  readonly command: string
  /** Says how the kubelet is, after it was put so. */
  see(...flags: readonly string[]): Promise<Seen>
  /** What a person types after a stop: says whether the device is left, and what was said. */
  apply(...flags: readonly string[]): Promise<{ readonly left: boolean; readonly said: string }>
  /** Puts the lease, renewed so many seconds ago; undefined: there is none. */
  lease(renewed: number | undefined): Promise<void>
}

const HOUR = 3600
/** Older than its duration, younger than the settle time. */
const MINUTE = 60

async function inPlace<T>(directory: string, use: (place: Place) => Promise<T>): Promise<T> {
  return withNode(directory, { kubelet: 'none' }, async (node) => {
    await using systemd = await startSystemd(directory)
    const [volctl, device] = [[...systemd.inside, '"$@"'].join(' '), `${node.root}/${DEVICE}`]
    // What shows that this PID namespace is the node's.
    systemd.unit('containerd.service', unit(`${named(`${directory}/runtime`, 'containerd')} ${LIVES}`))
    systemd.systemctl('start', 'containerd.service')
    const command = `${named(directory, 'kubelet')} ${LIVES} ${node.flags().join(' ')}`
    systemd.unit('kubelet.service', unit(command))
    const run = (...args: readonly string[]) => node.volctl(args, { script: `exec ${volctl}` })
    const isMounted = (): boolean =>
      sh(...(systemd.inside as [string, ...string[]]), 'sh', '-c', `mountpoint -q ${device} && echo yes || echo no`) ===
      'yes'
    const where = ['--root-dir', node.root, '--node', NODE, '--kubeconfig', node.api.kubeconfig('admin')]
    const mountDevice = (): void => {
      if (isMounted()) return
      mkdirSync(device, { recursive: true })
      sh(...(systemd.inside as [string, ...string[]]), 'mount', '-t', 'tmpfs', 'tmpfs', device)
    }
    const see = async (...flags: readonly string[]): Promise<Seen> => {
      mountDevice()
      const all = [...where, '--driver-gone', 'v/d', '-o', 'json', ...flags]
      const planned = await run('plan', ...all)
      if (planned.stdout === '') throw new Error(planned.stderr)
      const plan = JSON.parse(planned.stdout) as Plan
      const applied = await run('apply', '--yes', '--no-wait', ...all)
      if (applied.stdout === '') throw new Error(applied.stderr)
      const { exit } = JSON.parse(applied.stdout) as ApplyResult
      return {
        kubelet: plan.inputs.kubelet,
        waiting: plan.waiting.map(({ code }) => code),
        kinds: plan.operations.map(({ kind }) => kind),
        status: exit,
        left: isMounted(),
      }
    }
    const lease = async (renewed: number | undefined): Promise<void> => {
      if (renewed === undefined) return node.api.remove('Lease', NODE, 'kube-node-lease')
      const renewTime = new Date(Date.now() - renewed * 1000).toISOString()
      await node.api.put({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'kube-node-lease', name: NODE },
        spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime },
      })
    }
    const apply = async (...flags: readonly string[]) => {
      mountDevice()
      const { stderr } = await run('apply', '--yes', ...where, '--driver-gone', 'v/d', ...flags)
      return { left: isMounted(), said: stderr }
    }
    return await use({ node, systemd, device, command, see, apply, lease })
  })
}

const DEVICE = 'plugins/kubernetes.io/flexvolume/v/d/mounts/x'

await runScenario({
  /** Started, stopped, and stopped in such a way that systemd forgets when. */
  stopped: (directory) =>
    inPlace(directory, async ({ node, systemd, see, lease }) => {
      await lease(HOUR)
      systemd.systemctl('enable', '--now', 'kubelet.service')
      const running = await see()
      systemd.systemctl('stop', 'kubelet.service')
      const stopped = await see()
      const settled = await see('--settle', '0s')
      systemd.systemctl('start', 'kubelet.service')
      systemd.systemctl('disable', '--now', 'kubelet.service')
      const forgotten = systemd.systemctl('show', '--value', '--property=InactiveEnterTimestamp', 'kubelet.service')
      await lease(1)
      const disabled = await see()
      await lease(MINUTE)
      const later = await see()
      await lease(undefined)
      const { status, ...bare } = nodeObject() as { readonly status: { readonly nodeInfo: object } }
      await node.api.put({ ...bare, status: { nodeInfo: status.nodeInfo } })
      const untold = await see()
      await lease(HOUR)
      return { running, stopped, settled, forgotten, disabled, later, untold, hourLater: await see() }
    }),

  /** Nobody sleeps. */
  waits: (directory) =>
    inPlace(directory, async ({ systemd, apply, lease }) => {
      await lease(HOUR)
      systemd.systemctl('enable', '--now', 'kubelet.service')
      systemd.systemctl('stop', 'kubelet.service')
      const began = performance.now()
      const hasty = await apply('--settle', '1h', '--no-wait')
      // Far longer than it takes to begin: on a busy machine the kubelet would have stopped long enough ago when volctl looks.
      const settle = 3 + Math.ceil((performance.now() - began) / 250)
      systemd.systemctl('start', 'kubelet.service')
      systemd.systemctl('stop', 'kubelet.service')
      return { hasty, patient: await apply('--settle', `${settle}s`) }
    }),

  masked: (directory) =>
    inPlace(directory, async ({ systemd, see, lease }) => {
      systemd.systemctl('start', 'kubelet.service')
      systemd.systemctl('mask', '--now', 'kubelet.service')
      await lease(MINUTE)
      const masked = await see()
      await lease(HOUR)
      return { masked, hourLater: await see() }
    }),

  /** It ends by itself. */
  failing: (directory) =>
    inPlace(directory, async ({ systemd, command, see, lease }) => {
      await lease(HOUR)
      const dies = command.replace(LIVES, "-c 'exit 1'")
      systemd.unit('kubelet.service', unit(dies, 'Restart=always\nRestartSec=1h\n'))
      systemd.systemctl('start', '--no-block', 'kubelet.service')
      await systemd.until('kubelet.service', 'SubState', 'auto-restart')
      const restarting = await see('--settle', '0s')
      systemd.systemctl('stop', 'kubelet.service')
      systemd.unit('kubelet.service', unit(dies))
      systemd.systemctl('start', '--no-block', 'kubelet.service')
      await systemd.until('kubelet.service', 'ActiveState', 'failed')
      const failed = await see()
      return { restarting, failed, settled: await see('--settle', '0s') }
    }),

  /** It is stopped, and another unit may start it. */
  triggered: (directory) =>
    inPlace(directory, async ({ systemd, see, lease }) => {
      await lease(HOUR)
      const timer = '[Unit]\nDefaultDependencies=no\n[Timer]\nOnActiveSec=1h\nUnit=kubelet.service\n'
      systemd.unit('kubelet.timer', timer)
      const idle = await see()
      systemd.systemctl('start', 'kubelet.timer')
      const timed = await see('--settle', '0s')
      systemd.systemctl('stop', 'kubelet.timer')
      return { idle, timed, stopped: await see() }
    }),

  /** The kubelet is not its unit's, but of a shell that starts it again and again: between two, nothing runs. */
  supervised: (directory) =>
    inPlace(directory, async ({ systemd, command, see, lease }) => {
      const supervisor = `/bin/sh -c 'until test -e ${directory}/go; do sleep 0.05; done; exec ${command.replaceAll("'", '"')}'`
      systemd.unit('runsv.service', unit(supervisor))
      systemd.systemctl('start', 'runsv.service')
      await lease(5)
      const between = await see('--settle', '0s')
      // Whoever takes the supervisor away, too, still finds a kubelet that was here a minute ago.
      systemd.systemctl('stop', 'runsv.service')
      await lease(MINUTE)
      const justEnded = await see()
      await lease(HOUR)
      return { between, justEnded, hourLater: await see() }
    }),
})
