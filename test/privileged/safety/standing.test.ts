/** S1, S6 to S8 and S11 as on a node: the built volctl beside a process that is called kubelet, and namespaces of their own. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect } from 'vitest'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { hostIdentity } from '../../../src/core/node/host-identity.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { answerOf } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import { hold } from '../holder.ts'
import { age, KUBELET_UNIT, makeVolume, NODE, nodeForAll, nodeObject, writeUnit } from '../trust/node.ts'
import { podUid, readMounts } from '../workers/real-node.ts'

/** Refused, and the volume is still there. */
const refused = (rule: string, code: string, says = ''): object => ({
  status: 4,
  stderr: expect.stringMatching(new RegExp(`"code":"${code}".*"message":"refused: .*${says}.*"rule":"${rule}"`)),
  mounted: true,
})
const DONE = { status: 0, stderr: '', mounted: false }

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'private']
const CHROOT =
  'd=$(mktemp -d); mount --rbind / "$d"; mount --make-rprivate "$d"; chroot "$d" "$@"; s=$?; umount -l "$d"; rmdir "$d"; exit $s'

describeUnless(noRoot, 'beside a kubelet', () => {
  const node = nodeForAll()
  const kubelet = (options: object = {}) => node().start({ name: 'kubelet', flags: node().flags(), ...options })
  const given = (): readonly string[] => ['--kubeconfig', node().api.kubeconfig('admin'), '-o', 'json']
  const apply = async (script = '"$@"'): Promise<object> => {
    const { status, stderr } = await node().volctl(['apply', '--yes', '--orphans', ...given()], { script })
    return { status, stderr, mounted: node().isMounted() }
  }
  const thereIsVolume = (): string => makeVolume(node().root, 1)

  afterEach(() => {
    rmSync(KUBELET_UNIT, { force: true })
    rmSync(`${node().root}/pods/${podUid(2)}`, { recursive: true, force: true })
    node().api.put(nodeObject())
    thereIsVolume()
  })

  it('control: what pods that are gone have left for long goes while it runs', async () => {
    const running = await kubelet()
    expect(await apply()).toEqual(DONE)
    await running.end()
  })

  it("S6: volctl goes into the kubelet's mount namespace, and undoes there what is mounted nowhere else", async () => {
    const there = `${node().root}/pods/${podUid(2)}/volumes/kubernetes.io~secret/w`
    mkdirSync(there, { recursive: true })
    sh('umount', node().volume)
    age(`${node().root}/pods`)
    const inside = `mount -t tmpfs tmpfs ${there}; touch -d @1750000000 ${there}`
    const running = await kubelet({ through: OWN_MOUNTS, inside })
    const theirs = (): string =>
      sh('nsenter', `--mount=/proc/${running.pid}/ns/mnt`, 'sh', '-c', `mountpoint -q ${there} && echo yes || echo no`)
    expect(theirs()).toBe('yes')
    expect(await apply()).toMatchObject({ status: 0 })
    expect({ theirs: theirs(), here: existsSync(there) }).toEqual({ theirs: 'no', here: false })
    await running.end()
  })

  it('S6: nothing is done where the container runtime sees a mount that is not here', async () => {
    const there = `${node().root}/pods/${podUid(2)}/volumes/kubernetes.io~secret/w`
    mkdirSync(there, { recursive: true })
    writeUnit(node().flags())
    const inside = `mount -t tmpfs tmpfs ${there}`
    const runtime = await node().start({ name: 'containerd', through: OWN_MOUNTS, inside })
    expect(await apply()).toEqual(refused('S6', 'WrongNamespace', 'container runtime'))
    expect(existsSync(there)).toBe(true)
    await runtime.end()
  })

  it('S7: nothing is done in a chroot, a user namespace or another PID namespace', async () => {
    const running = await kubelet({ cwd: thereIsVolume() })
    const named = `--root-dir ${node().root} --node ${NODE}`
    expect(await apply(CHROOT)).toEqual(refused('S7', 'WrongNamespace', 'chroot'))
    expect(await apply('exec unshare -Ur "$@"')).toEqual(refused('S7', 'WrongNamespace', 'user namespace'))
    expect(await apply(`exec unshare -pf --kill-child "$@" ${named}`)).toEqual(
      refused('S7', 'WrongNamespace', 'PID namespace'),
    )
    // Where a holder cannot be seen from, explain says so.
    const holders = async (script = '"$@"') => {
      return answerOf<Explanation>(await node().volctl(['explain', node().volume, ...given()], { script })).holders
    }
    expect(await holders()).toMatchObject({ processes: [{ pid: running.pid, holds: [{ what: 'cwd' }] }], notes: [] })
    expect(await holders('exec unshare -Ur "$@"')).toMatchObject({
      processes: [],
      notes: expect.arrayContaining([
        expect.stringMatching(/^the open files and mounts of \d+ processes cannot be .* as in a user namespace/),
      ]),
    })
    // Its own /proc as well: of a process outside there is no trace.
    const apart = await holders(`exec unshare -pf --mount-proc --kill-child "$@" ${named}`)
    expect(apart.processes).toEqual([])
    expect(apart.notes[0]).toMatch(/^volctl's PID namespace is not the node's, /)
    await running.end()
  })

  it('S3: nothing is done without /sys, in which nobody sees who uses a disk', async () => {
    const running = await kubelet()
    sh('mount', '-t', 'tmpfs', 'none', '/sys')
    expect(await apply()).toEqual(refused('S3', 'WrongNamespace', '/sys is not mounted'))
    sh('umount', '/sys')
    await running.end()
  })

  it('S1: one id that agrees is not enough where another contradicts, until that one is accepted', async () => {
    const { machineID, systemUUID, bootID } = hostIdentity()
    const other = '7d0b1a52-9c3e-4f61-8a77-2b5e6c1d9f04'
    const running = await kubelet()
    const contradicts = refused('S1', 'WrongMachine', 'may be another machine: its ')
    for (const id of ['machineID', 'systemUUID', 'bootID']) {
      const nodeInfo = { machineID, systemUUID, bootID, [id]: other }
      node().api.put({ ...nodeObject(), status: { nodeInfo } })
      expect(await apply()).toEqual(contradicts)
    }
    expect(await apply(`"$@" --accept-identity ${bootID}`)).toEqual(contradicts)
    expect(await apply(`"$@" --accept-identity ${other}`)).toEqual(DONE)
    await running.end()
    expect(readFileSync('/var/lib/volctl/journal.jsonl', 'utf8')).toContain(`"acceptIdentity":["${other}"]`)
  })

  it('S1: --node of another node than the kubelet here says that it is', async () => {
    node().api.put({ ...nodeObject(), metadata: { name: 'node-2', uid: 'other' } })
    const running = await kubelet()
    expect(await apply('"$@" --node node-2')).toEqual(refused('S1', 'OtherNode'))
    await running.end()
    writeUnit(node().flags())
    expect(await apply('"$@" --node node-2')).toEqual(refused('S1', 'OtherNode'))
    expect(await apply('"$@" --node NODE-1 --settle 0s')).toEqual(DONE)
  })

  it('S8: two kubelets, or one without an API server, are refused', async ({ directory }) => {
    const [, kubeconfig, name] = node().flags()
    const first = await kubelet()
    const second = await kubelet({ flags: [`--root-dir=${directory}`, kubeconfig, name] })
    expect(await apply()).toEqual(refused('S8', 'KubeletUnclear', 'has 2 kubelets'))
    for (const each of [first, second]) await each.end()
    const standalone = await kubelet({ flags: [`--root-dir=${node().root}`, name] })
    expect(await apply()).toEqual(refused('S8', 'KubeletUnclear', 'API server'))
    await standalone.end()
  })

  it('S11: a kubelet of another name is known by its flags, or by who listens on its port', async ({ directory }) => {
    writeUnit(node().flags())
    const device = `${node().root}/plugins/kubernetes.io/flexvolume/v/d/mounts/x`
    mkdirSync(device, { recursive: true })
    sh('mount', '-t', 'tmpfs', 'tmpfs', device)
    const [root = '', kubeconfig = '', name = ''] = node().flags()
    const left = async (script = '"$@" --driver-gone v/d'): Promise<number> => {
      await apply(script)
      return readMounts().at(device).length
    }
    writeFileSync(`${directory}/c.yaml`, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n')
    for (const [program, flags] of [
      ['hyperkube', ['kubelet', root, kubeconfig, name]],
      ['node-main', [kubeconfig, `--config=${directory}/c.yaml`, name]],
      ['renamed', ['--kubeconfig', kubeconfig.replace(/^.*=/, ''), '--root-dir', root.replace(/^.*=/, '')]],
    ] as const) {
      const running = await node().start({ name: program, flags })
      expect(await left(), program).toBe(1)
      await running.end()
    }
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    writeUnit([...node().flags(), `--port=${port}`])
    expect(await left(), 'who listens on its port').toBe(1)
    server.close()
    await once(server, 'close')
    // Controls: others with such flags, volctl itself, and a listener of uid 0 in a container (S32).
    const listen = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('ready'))`
    const stranger = await hold(['unshare', '-p', '-f', '--kill-child', process.execPath, '-e', listen])
    const proxy = await node().start({ name: 'kube-proxy', flags: [kubeconfig, name] })
    expect(await left(`exec sh -c '"$@"; exit $?' sh "$@" --driver-gone v/d ${root} --node ${NODE}`)).toBe(0)
    for (const each of [proxy, stranger]) await each.end()
  })
})
