/** Set-up that fails half-way, its verifying and its taking back, on real mounts, on every propagation layout of the root directory (S8, S18, O35). */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { PodVolumeSource } from '../../../src/core/kube/api/objects.ts'
import { type Host, linuxHost } from '../../../src/core/node/host.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices, noMounts } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { type Layout, layOut, layouts, timesInTable } from '../../helpers/scene/layouts.ts'
import { describeUnless } from '../describe-unless.ts'
import { withDisk } from '../with-disk.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const CLAIM: PodVolumeSource = { name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }
const SECRET: PodVolumeSource = { name: 'pass', secret: { secretName: 's' } }

function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
}

interface Kind {
  readonly volume: PodVolumeSource
  /** What breaks, once something is mounted. */
  readonly broken: Partial<Host>
  readonly target: string
  /** A local one, on a disk. */
  readonly isBlock?: boolean
}

const KINDS = {
  secret: {
    volume: SECRET,
    broken: { writeAtomically: () => Promise.reject(diskFull()) },
    target: `pods/${POD}/volumes/kubernetes.io~secret/pass`,
  },
  block: {
    volume: CLAIM,
    broken: {
      run: async (program, args, deadlineMs, input) =>
        program === 'losetup'
          ? { status: 1, stdout: '', stderr: `${program}: failed`, timedOut: false }
          : linuxHost.run(program, args, deadlineMs, input),
    },
    isBlock: true,
    target: `plugins/kubernetes.io~local-volume/volumeDevices/pv/${POD}`,
  },
} satisfies Record<string, Kind>

async function withNode<T>(
  directory: string,
  layout: Layout,
  { volume, isBlock = false }: Kind,
  work: (node: LiveNode) => Promise<T>,
): Promise<T> {
  mkdirSync(`${directory}/kubelet`)
  layOut(layout, directory, `${directory}/kubelet`)
  const node = new LiveNode(directory)
  node.addSecret('s', { key: 'value' })
  const start = async (path?: string): Promise<T> => {
    if (path !== undefined) node.persistentVolume('pv', { source: { local: { path }, volumeMode: 'Block' } })
    node.pod(POD, 'a', [volume], { devices: isBlock, spec: { securityContext: { fsGroup: 2000 } } })
    return await work(node)
  }
  return isBlock ? await withDisk(directory, undefined, start) : await start()
}

const lines = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length
const foreigners = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split(' - tmpfs foreign ').length - 1

function ends({ outcomes }: ApplyResult): string[] {
  return outcomes.map(({ kind, state, code }) => [kind, state, code].filter(Boolean).join(' '))
}
const messages = ({ outcomes }: ApplyResult): string => outcomes.map(({ message }) => message).join('\n')

/** What breaks does so when the volume is mounted. */
function failing(node: LiveNode, { broken, target }: Kind, first: () => void): void {
  let begun = false
  const hooked = Object.entries(broken as Record<string, (...args: unknown[]) => unknown>).map(([method, call]) => [
    method,
    (...args: unknown[]) => {
      if (!begun && node.mounts().top(`${node.root}/${target}`) !== undefined) {
        begun = true
        first()
      }
      return call(...args)
    },
  ])
  node.context = { host: { ...linuxHost, ...Object.fromEntries(hooked) } }
}

/** Nothing of it is left, and the next apply brings it up, and down. */
const isUndone = (directory: string, layout: Layout, kind: Kind): Promise<void> =>
  withNode(directory, layout, kind, async (node) => {
    const verb = kind.isBlock ? 'MapVolume' : 'MountVolume'
    const before = lines()
    let mounted = 0
    failing(node, kind, () => {
      mounted = lines() - before
    })
    const failed = await node.apply()
    expect(ends(failed)).toEqual([expect.stringMatching(new RegExp(`^${verb} failed`))])
    expect(messages(failed)).not.toContain('left as it is')
    expect({ mounted, left: lines() - before }).toEqual({ mounted: timesInTable(layout), left: 0 })
    node.context = {}
    expect(ends(await node.apply())).toEqual([`${verb} done`])
    expect(await node.operations()).toEqual([])
    node.forget(POD)
    expect(ends(await node.apply({ orphans: true })).filter((each) => !each.endsWith(' done'))).toEqual([])
    expect({ left: lines() - before, exists: existsSync(`${node.root}/${kind.target}`) }).toEqual({
      left: 0,
      exists: false,
    })
  })

/** Somebody has mounted over it meanwhile. */
const staysOver = (directory: string, layout: Layout, kind: Kind): Promise<void> =>
  withNode(directory, layout, kind, async (node) => {
    const { isBlock: isFile = false } = kind
    const target = `${node.root}/${kind.target}`
    const other = `${directory}/other`
    mkdirSync(other)
    sh('mount', '-t', 'tmpfs', 'foreign', other)
    writeFileSync(`${other}/file`, 'kept')
    const own = foreigners()
    let put = 0
    failing(node, kind, () => {
      sh('mount', '--bind', isFile ? `${other}/file` : other, target)
      put = foreigners() - own
    })
    const failed = await node.apply()
    expect(messages(failed)).toMatch(/left as it is: the mount on \S+ \(tmpfs mount \d+ of foreign on \S+ hides it\)/)
    expect(put).toBeGreaterThan(0)
    expect(foreigners() - own).toBe(put)
    expect(readFileSync(isFile ? target : `${target}/file`, 'utf8')).toBe('kept')
  })

// A second binding is made when volumes are there; here none are yet.
const LAYOUTS = layouts.filter((layout) => layout !== 'bound-later')
/** A mount on a directory and one on a file, on each. */
const ROWS = LAYOUTS.flatMap((layout) => Object.entries<Kind>(KINDS).map(([name, kind]) => ({ layout, name, kind })))

describeUnless(noMounts, 'set-up on layouts', () => {
  it.for(ROWS)(
    'S8, S18: $name that fails half-way leaves nothing, and is brought up and down by the next: $layout',
    async ({ layout, kind }, { directory, skip }) => {
      skip(kind.isBlock === true && noBlockDevices !== undefined, noBlockDevices)
      await isUndone(directory, layout, kind)
    },
  )

  it.for(ROWS)(
    'S18: what somebody has mounted over $name meanwhile stays, and is named: $layout',
    async ({ layout, kind }, { directory, skip }) => {
      skip(kind.isBlock === true && noBlockDevices !== undefined, noBlockDevices)
      await staysOver(directory, layout, kind)
    },
  )

  it.for(LAYOUTS)(
    'S18: what somebody mounts right before volctl does is foreign, and stays: %s',
    (layout, { directory }) =>
      withNode(directory, layout, KINDS.secret, async (node) => {
        const target = `${node.root}/${KINDS.secret.target}`
        let put = 0
        const own = foreigners()
        const run: Host['run'] = async (program, args, deadlineMs, input) => {
          if (program === 'mount' && args.at(-1) === target && put === 0) {
            sh('mount', '-t', 'tmpfs', 'foreign', target)
            put = foreigners() - own
          }
          return linuxHost.run(program, args, deadlineMs, input)
        }
        node.context = { host: { ...linuxHost, run } }
        expect(ends(await node.apply())).toEqual(['MountVolume failed ForeignMount'])
        expect(put).toBeGreaterThan(0)
        expect(foreigners() - own).toBe(put)
      }),
  )

  // The tree is bound elsewhere, too, and the copy there hears of nothing any more.
  it('S18: a copy that stays when its mount has gone is named', ({ directory }) =>
    withNode(directory, 'shared-self-bind', KINDS.secret, async (node) => {
      const { target } = KINDS.secret
      const elsewhere = `${directory}-elsewhere`
      mkdirSync(elsewhere)
      sh('mount', '--bind', directory, elsewhere)
      const copy = `${elsewhere}/kubelet/${target}`
      const writeAtomically = (): Promise<never> => {
        sh('mount', '--make-private', copy)
        mkdirSync(`${copy}/sub`)
        sh('mount', '-t', 'tmpfs', 'foreign', `${copy}/sub`)
        return Promise.reject(diskFull())
      }
      node.context = { host: { ...linuxHost, writeAtomically } }
      expect(messages(await node.apply())).toMatch(
        /left as it is: the mount on \S+ \(a copy of the mount remains, the tmpfs mount \d+ of \S+ on \S+: tmpfs mount \d+ of foreign on \S+\/sub is mounted on it\)/,
      )
      expect(node.mounts().at(copy)).toHaveLength(1)
      expect(node.mounts().top(`${node.root}/${target}`)).toBe(undefined)
      sh('umount', '-R', copy)
      sh('umount', elsewhere)
      rmdirSync(elsewhere)
    }))
})
