/**
 * Every parser of foreign text, fed with what no one would write: it ends soon, throws nothing but a clear error of its
 * own, and never accepts what is not what it says. VOLCTL_FUZZ=100000 tries as many for each, another seed each time.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fromBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeKubeConfigs, readKubeConfigFile } from '../../src/core/kube/kubeconfig/kube-config-file.ts'
import { selectContext } from '../../src/core/kube/kubeconfig/normalize-kube-config.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { containersAround, podsOfCgroup, podUidsOfCgroup } from '../../src/core/linux/pod-cgroups.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { kubeletConfig } from '../../src/core/node/kubelet/kubelet-config.ts'
import { parseKubeletFlags, withoutSecrets } from '../../src/core/node/kubelet/kubelet-flags.ts'
import { readServiceUnit } from '../../src/core/node/kubelet/systemd-unit.ts'
import { parseSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { highestSupportedVersion } from '../../src/core/rpc/discover-csi-sockets.ts'
import { decodeFrame } from '../../src/core/rpc/exchange.ts'
import {
  ListContainersResponseSchema,
  ListPodSandboxResponseSchema,
} from '../../src/core/rpc/gen/runtime/v1/runtime_pb.js'
import { sandboxStates } from '../../src/core/rpc/read-runtime.ts'
import { parseIscsiDirectory, parseIscsiJson } from '../../src/core/volumes/iscsi.ts'
import { compareQuantities, parseQuantity } from '../../src/core/volumes/quantity.ts'
import { readStateFile } from '../../src/core/volumes/volume-names.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { corpus, mutated } from './mutate.ts'

const { VOLCTL_FUZZ: asked } = process.env
const parameters = asked === undefined ? { numRuns: 100, seed: 1136 } : { numRuns: Number(asked) }
const TIMEOUT_MS = asked === undefined ? 600_000 : 3_600_000
/** A parser that takes as long for a few kilobytes hangs on a file of some megabytes. */
const TOO_LONG_MS = 2_000
const SECRET = 'planted-value'

const directory = temporaryDirectory()

function file(name: string, bytes: Buffer): string {
  const path = `${directory}/${name}`
  mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
  writeFileSync(path, bytes)
  return path
}

/** What the parser makes of it, or its own clear error. */
function refusing<T>(parse: () => T): T | VolctlError {
  try {
    return parse()
  } catch (error) {
    if (error instanceof VolctlError) return error
    throw error
  }
}

const PARSERS: Readonly<Record<string, (bytes: Buffer) => void>> = {
  mountinfo(bytes) {
    const table = refusing(() => parseMountinfo(bytes))
    if (table instanceof VolctlError) return
    for (const mount of table.under('/')) {
      expect(mount.mountPoint).toMatch(/^\//)
      expect(mount.dev).toMatch(/^\d+:\d+$/)
      expect([mount.root, mount.fsType, mount.source].every((text) => typeof text === 'string')).toBe(true)
      expect([...mount.options, ...mount.optionalFields, ...mount.superOptions]).toBeInstanceOf(Array)
      expect(table.at(mount.mountPoint).map(({ index }) => index)).toContain(mount.index)
      expect(table.ofDevice(mount.dev).map(({ index }) => index)).toContain(mount.index)
      expect(table.byId(mount.id)?.id).toBe(mount.id)
    }
  },
  vol_data(bytes) {
    const found = readStateFile({ path: 'vol_data.json', type: 'file', content: bytes.toString() })
    if (found?.data === undefined) expect(found?.corrupt).toMatch(/\S/)
    else for (const text of [found.data.driver, found.data.handle]) expect(text).not.toBe('')
  },
  iscsi(bytes) {
    const found = parseIscsiJson(bytes.toString())
    if (found === undefined) return
    const { portals, iqn, lun, iface } = found
    expect(portals.length).toBeGreaterThan(0)
    for (const name of [...portals, iqn, lun, iface ?? 'default']) expect(name).not.toMatch(/^-|^$|[\s/\0]/)
  },
  'iscsi-directory'(bytes) {
    const disk = parseIscsiDirectory(bytes.toString())
    for (const name of disk === undefined ? [] : [...disk.portals, disk.iqn, disk.lun])
      expect(name).not.toMatch(/^-|^$|[\s/\0]/)
  },
  cgroup(bytes) {
    const text = bytes.toString()
    for (const bases of [[], containersAround(text)]) {
      const { own, nested } = podsOfCgroup(text, bases)
      expect(nested.filter((uid) => own.includes(uid))).toEqual([])
      expect(podUidsOfCgroup(text)).toEqual(expect.arrayContaining([...own, ...nested]))
    }
    for (const uid of podUidsOfCgroup(text)) {
      expect(uid).toMatch(/^[^/\n]+$/)
      expect(text.replaceAll('_', '-')).toContain(`pod${uid.replaceAll('_', '-')}`)
    }
  },
  'command-line'(bytes) {
    const args = bytes.toString().split('\0')
    for (const name of parseKubeletFlags(args).keys()) expect(name).not.toMatch(/[=_]/)
    expect(withoutSecrets(args)).toHaveLength(args.length)
  },
  'kubelet-config'(bytes) {
    const config = file('config.yaml', bytes)
    refusing(() => kubeletConfig(new Map([['config', config]]), directory))
  },
  unit(bytes) {
    file('root/etc/systemd/system/kubelet.service', bytes)
    const unit = refusing(() => readServiceUnit('kubelet.service', `${directory}/root`))
    if (unit === undefined || unit instanceof VolctlError) return
    expect(unit.args.every((word) => typeof word === 'string')).toBe(true)
    expect(typeof unit.workingDirectory).toBe('string')
  },
  kubeconfig(bytes) {
    const path = file('kubeconfig', bytes)
    const found = refusing(() => selectContext(mergeKubeConfigs([readKubeConfigFile(path)]), path, undefined))
    if (!(found instanceof VolctlError)) return
    expect(`${found.message} ${found.hint ?? ''}`).not.toContain(SECRET)
  },
  snapshot(bytes) {
    const snapshot = refusing(() => parseSnapshot(bytes, 'snapshot'))
    if (snapshot instanceof VolctlError) return
    const mounts = refusing(() => parseMountinfo(snapshot.mountinfo ?? ''))
    if (mounts instanceof VolctlError) return
    const { operations } = planNode({ snapshot, mounts }, planOptions({ orphans: true }))
    for (const { steps } of operations) for (const { target } of steps) expect(target).not.toMatch(/(^|\/)\.\.(\/|$)/)
  },
  quantity(bytes) {
    const text = bytes.toString()
    const value = parseQuantity(text)
    if (value === undefined) return
    expect(text).toMatch(/^[+-]?[\d.]+\D{0,2}[+-]?\d*$/)
    expect(compareQuantities(text, text)).toBe(0)
  },
  versions(bytes) {
    const announced = bytes.toString().split(',')
    const highest = highestSupportedVersion(announced)
    if (highest !== undefined) expect(announced).toContain(highest)
  },
  frame(bytes) {
    let message: Buffer
    try {
      message = decodeFrame(bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(Error)
      return
    }
    expect(bytes.includes(message)).toBe(true)
  },
}

describe.each(Object.keys(PARSERS))('%s', (name) => {
  const parse = (bytes: Buffer): void => {
    const begun = performance.now()
    PARSERS[name]?.(bytes)
    expect(performance.now() - begun).toBeLessThan(TOO_LONG_MS)
  }

  it.each(corpus(name))('takes $name as it is', ({ bytes }) => parse(bytes))

  it('survives its mutations', () => fc.assert(fc.property(mutated(name), parse), parameters), TIMEOUT_MS)
})

it('answers of a container runtime: whatever bytes they are, make sandboxes with a UID and a state, or are refused by their decoder', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), (a, b) => {
      let answers: Parameters<typeof sandboxStates>
      try {
        const { items } = fromBinary(ListPodSandboxResponseSchema, a)
        answers = [items, fromBinary(ListContainersResponseSchema, b).containers]
      } catch {
        return
      }
      for (const { uid, state } of sandboxStates(...answers)) expect([uid === '', state === '']).toEqual([false, false])
    }),
    parameters,
  )
})
