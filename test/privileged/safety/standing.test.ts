/** S6 to S8 and S11 as on a node: the built volctl, a process that is called kubelet, and namespaces of their own. */
import { describe, expect, it } from 'vitest'
import type { HoldersView } from '../../../src/core/explain/explanation.ts'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./standing.worker.ts', import.meta.url)

interface Result {
  readonly status: number
  readonly stderr: string
  readonly mounted: boolean
}

/** Refused, and the volume is still there. */
const refused = (rule: string, code: string, says = ''): object => ({
  status: 4,
  stderr: expect.stringMatching(new RegExp(`"code":"${code}".*"message":"refused: .*${says}.*"rule":"${rule}"`)),
  mounted: true,
})

const run = <T>(scenario: string): Promise<T> => inNamespace<T>(WORKER, scenario)

describe.skipIf(noRoot !== undefined)(`beside a kubelet${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it('control: what pods that are gone have left for long goes while it runs', async () => {
    expect(await run('control')).toEqual({ status: 0, stderr: '', mounted: false })
  })

  it("S6: volctl goes into the kubelet's mount namespace, and undoes there what is mounted nowhere else", async () => {
    expect(await run('foreignNamespace')).toEqual({ status: 0, before: 'yes', after: false, exists: false })
  })

  it('S6: nothing is done where the container runtime sees a mount that is not here', async () => {
    expect(await run('runtimeSeesMore')).toEqual({
      ...refused('S6', 'WrongNamespace', 'container runtime'),
      exists: true,
    })
  })

  it('S7: nothing is done in a chroot, a user namespace or another PID namespace', async () => {
    const { refusals, sight, pid } = await run<{
      refusals: Record<string, Result>
      sight: Record<'here' | 'user' | 'pid', HoldersView>
      pid: number
    }>('elsewhere')
    expect(refusals).toEqual({
      chroot: refused('S7', 'WrongNamespace', 'chroot'),
      user: refused('S7', 'WrongNamespace', 'user namespace'),
      pid: refused('S7', 'WrongNamespace', 'PID namespace'),
    })
    // Where a holder cannot be seen from, explain says so.
    expect(sight.here).toMatchObject({ processes: [{ pid, holds: [{ what: 'cwd' }] }], notes: [] })
    expect(sight.user.processes).toEqual([])
    expect(sight.user.notes).toContainEqual(
      expect.stringMatching(
        /^volctl runs in a user namespace: the open files and mounts of \d+ processes cannot be read/,
      ),
    )
    expect(sight.pid.processes).toEqual([])
    expect(sight.pid.notes[0]).toMatch(/^volctl's PID namespace is not the node's, /)
  })

  it('S1: one id that agrees is not enough where another contradicts, until that one is accepted', async () => {
    const contradicts = refused('S1', 'WrongMachine', 'may be another machine: its ')
    expect(await run('contradicting')).toEqual({
      machine: contradicts,
      firmware: contradicts,
      boot: contradicts,
      elsewhere: contradicts,
      accepted: { status: 0, stderr: '', mounted: false },
      journal: true,
    })
  })

  it('S1: --node of another node than the kubelet here says that it is', async () => {
    expect(await run('otherName')).toEqual({
      beside: refused('S1', 'OtherNode'),
      stopped: refused('S1', 'OtherNode'),
      own: { status: 0, stderr: '', mounted: false },
    })
  })

  it('S8: two kubelets, or one without an API server, are refused', async () => {
    expect(await run('several')).toEqual({
      two: refused('S8', 'KubeletUnclear', 'has 2 kubelets'),
      alone: refused('S8', 'KubeletUnclear', 'API server'),
    })
  })

  it('S11: a kubelet of another name is known by its flags, or by who listens on its port', async () => {
    expect(await run('byAnotherName')).toEqual({
      kept: { 'acme-node-agent': 1, 'kubelet-1.36': 1, hyperkube: 1, 'node-main': 1, renamed: 1, listener: 1 },
      beside: { status: 0, stderr: '', mounted: false },
      left: 0,
    })
  })

  it('S11: a kubelet between two crashes owns the devices, and one that is stopped does not', async () => {
    expect(await run('crashLoop')).toMatchObject({
      restarting: { status: 0 },
      kept: 1,
      // Nothing tells when it stopped: just now.
      forgotten: { status: 0 },
      still: 1,
      stopped: { status: 0 },
      left: 0,
    })
  })
})
