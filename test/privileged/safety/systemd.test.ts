/**
 * S11 beside a kubelet that a real systemd starts, stops, restarts and forgets. What systemd says is its own; only the lease is put
 * in place, since the kubelet is a shell that bears the name.
 */
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { it } from '../../helpers/machine.ts'
import { sh } from '../../helpers/scenario.ts'
import { answerOf } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import { LIVES, named, unitText } from '../systemd/kubelet-unit.ts'
import { noSystemd, startSystemd, type TestSystemd } from '../systemd/start.ts'
import { NODE, nodeForAll, nodeObject } from '../trust/node.ts'

const UNIT = 'kubelet.service'
const HOUR = 3600
/** Older than its duration, younger than the settle time. */
const MINUTE = 60

/** The device has to wait, and the plan says for what. */
const kept = (state: string, code: string, note = ''): object => ({
  kubelet: expect.objectContaining({ state, ...(note !== '' && { note: expect.stringContaining(note) }) }),
  waiting: expect.arrayContaining([code]),
  kinds: expect.not.arrayContaining(['UnmountDevice']),
})
/** Control: nothing else holds it. */
const gone = (note: string): object => ({
  kubelet: expect.objectContaining({ state: 'stopped', note: expect.stringContaining(note) }),
  waiting: [],
  kinds: expect.arrayContaining(['UnmountDevice']),
})

describeUnless(noSystemd, "the kubelet's unit", () => {
  const node = nodeForAll()
  let systemd: TestSystemd
  let command: string
  beforeAll(async () => {
    systemd = await startSystemd(node().directory)
    // What shows that this PID namespace is the node's.
    const runtime = `${named(`${node().directory}/runtime`, 'containerd')} ${LIVES}`
    systemd.unit('containerd.service', unitText(runtime))
    systemd.systemctl('start', 'containerd.service')
    command = `${named(node().directory, 'kubelet')} ${LIVES} ${node().flags().join(' ')}`
  })
  afterAll(() => systemd[Symbol.asyncDispose]())
  beforeEach(() => {
    systemd.unit(UNIT, unitText(command))
    lease(HOUR)
  })

  /** In systemd's namespaces. */
  const inside = (...args: readonly string[]): string => sh(...(systemd.inside as [string, ...string[]]), ...args)
  const device = (): string => `${node().root}/plugins/kubernetes.io/flexvolume/v/d/mounts/x`
  const isMounted = (): boolean => inside('sh', '-c', `mountpoint -q ${device()} && echo yes || echo no`) === 'yes'
  const run = async (...args: readonly string[]) => {
    mkdirSync(device(), { recursive: true })
    if (!isMounted()) inside('mount', '-t', 'tmpfs', 'tmpfs', device())
    const where = ['--root-dir', node().root, '--node', NODE, '--kubeconfig', node().api.kubeconfig('admin')]
    const all = [...args, ...where, '--driver-gone', 'v/d']
    return await node().volctl(all, { script: `exec ${systemd.inside.join(' ')} "$@"` })
  }
  const see = async (...flags: readonly string[]): Promise<object> => {
    const { inputs, waiting, operations } = answerOf<Plan>(await run('plan', '-o', 'json', ...flags))
    return {
      kubelet: inputs.kubelet,
      waiting: waiting.map(({ code }) => code),
      kinds: operations.map(({ kind }) => kind),
    }
  }
  /** What a person types after a stop. */
  const apply = async (...flags: readonly string[]) => {
    const { stderr } = await run('apply', '--yes', ...flags)
    return { left: isMounted(), said: stderr }
  }
  /** Puts the lease, renewed so many seconds ago; undefined: there is none. */
  const lease = (renewed: number | undefined): void => {
    node().api.remove('Lease', NODE, 'kube-node-lease')
    if (renewed === undefined) return
    const renewTime = new Date(Date.now() - renewed * 1000).toISOString()
    node().api.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-node-lease', name: NODE },
      spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime },
    })
  }

  it('S11: stopped a moment ago, or forgotten by systemd, the settle time holds', async () => {
    systemd.systemctl('enable', '--now', UNIT)
    expect(await see()).toEqual(kept('running', 'KubeletRunning'))
    systemd.systemctl('stop', UNIT)
    expect(await see()).toEqual(kept('stopped', 'Settling', 'enabled, starts at next boot'))
    expect(await apply('--no-wait')).toMatchObject({ left: true })
    expect(await see('--settle', '0s')).toEqual(gone('enabled'))
    // In such a way that systemd forgets when.
    systemd.systemctl('start', UNIT)
    systemd.systemctl('disable', '--now', UNIT)
    expect(systemd.systemctl('show', '--value', '--property=InactiveEnterTimestamp', UNIT)).toBe('')
    lease(1)
    expect(await see()).toEqual(kept('mayReturn', 'KubeletRunning', "the node's lease was renewed"))
    lease(MINUTE)
    expect(await see()).toEqual(kept('stopped', 'Settling', 'disabled'))
    lease(undefined)
    const { status, ...bare } = nodeObject() as { readonly status: { readonly nodeInfo: object } }
    node().api.put({ ...bare, status: { nodeInfo: status.nodeInfo } })
    expect(await see()).toEqual(kept('stopped', 'Settling', 'disabled'))
    lease(HOUR)
    expect(await see()).toEqual(gone('disabled'))
    expect(await apply('--no-wait')).toMatchObject({ left: false })
  })

  it('S11: apply waits for the settle time by itself, and does not with --no-wait', async () => {
    systemd.systemctl('enable', '--now', UNIT)
    systemd.systemctl('stop', UNIT)
    const began = performance.now()
    expect(await apply('--settle', '1h', '--no-wait')).toEqual({
      left: true,
      said: expect.stringMatching(/^Node:.*waiting time .*the kubelet stopped less than/s),
    })
    // Far longer than it takes to begin: on a busy machine the kubelet would have stopped long enough ago when volctl looks.
    const settle = 3 + Math.ceil((performance.now() - began) / 250)
    systemd.systemctl('start', UNIT)
    systemd.systemctl('stop', UNIT)
    expect(await apply('--settle', `${settle}s`)).toEqual({
      left: false,
      said: expect.stringMatching(/^The kubelet stopped a moment ago: waiting \S+ for its last calls to end/),
    })
    systemd.systemctl('disable', UNIT)
  })

  it('S11: masked', async () => {
    systemd.systemctl('start', UNIT)
    systemd.systemctl('mask', '--now', UNIT)
    lease(MINUTE)
    expect(await see()).toEqual(kept('stopped', 'Settling', 'masked'))
    lease(HOUR)
    expect(await see()).toEqual(gone('masked'))
    systemd.systemctl('unmask', UNIT)
  })

  it('S11: between two starts, and failed for good', async () => {
    const dies = command.replace(LIVES, "-c 'exit 1'")
    systemd.unit(UNIT, unitText(dies, 'Restart=always\nRestartSec=1h\n'))
    systemd.systemctl('start', '--no-block', UNIT)
    await systemd.until('SubState', 'auto-restart')
    expect(await see('--settle', '0s')).toEqual(kept('mayReturn', 'KubeletRunning', 'auto-restart'))
    systemd.systemctl('stop', UNIT)
    systemd.unit(UNIT, unitText(dies))
    systemd.systemctl('start', '--no-block', UNIT)
    await systemd.until('ActiveState', 'failed')
    expect(await see()).toEqual(kept('stopped', 'Settling', 'failed'))
    expect(await see('--settle', '0s')).toEqual(gone('failed'))
    systemd.systemctl('reset-failed', UNIT)
  })

  it('S11: stopped, while a timer may start it', async () => {
    systemd.unit('kubelet.timer', '[Unit]\nDefaultDependencies=no\n[Timer]\nOnActiveSec=1h\nUnit=kubelet.service\n')
    systemd.systemctl('start', 'kubelet.timer')
    expect(await see('--settle', '0s')).toEqual(kept('mayReturn', 'KubeletRunning', 'kubelet.timer may start the unit'))
    systemd.systemctl('stop', 'kubelet.timer')
    expect(await see('--settle', '0s')).toEqual(gone('inactive'))
  })
})
