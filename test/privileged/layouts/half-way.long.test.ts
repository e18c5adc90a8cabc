/** Set-up that fails half-way, its verifying and its taking back, on real mounts, on every propagation layout of the root directory (S8, S18, O35). */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { linuxHost } from '../../../src/core/rules/host.ts'
import { LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noMounts } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { type Layout, layOut, layouts, timesInTable } from '../../helpers/scene/layouts.ts'
import { describeUnless } from '../describe-unless.ts'

const TARGET = `pods/${POD}/volumes/kubernetes.io~secret/pass`

async function withNode<T>(directory: string, layout: Layout, work: (node: LiveNode) => Promise<T>): Promise<T> {
  mkdirSync(`${directory}/kubelet`)
  layOut(layout, directory, `${directory}/kubelet`)
  const node = new LiveNode(directory)
  node.addSecret('s', { key: 'value' })
  const securityContext = { fsGroup: 2000 }
  node.pod(POD, 'a', [{ name: 'pass', secret: { secretName: 's' } }], { spec: { securityContext } })
  return await work(node)
}

const lines = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length
const foreigners = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split(' - tmpfs foreign ').length - 1

/** Once the volume is mounted, something happens, and its content cannot be written. */
function failing(node: LiveNode, happens: () => void): void {
  const writeAtomically = (): Promise<never> => {
    happens()
    return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }))
  }
  node.context = { host: { ...linuxHost, writeAtomically } }
}

// A second binding is made when volumes are there; here none are yet.
const LAYOUTS = layouts.filter((layout) => layout !== 'bound-later')

describeUnless(noMounts, 'set-up on layouts', () => {
  it.for(LAYOUTS)(
    'S8, S18: what fails half-way leaves nothing, and is brought up and down by the next: %s',
    (layout, { directory }) =>
      withNode(directory, layout, async (node) => {
        const before = lines()
        let mounted = 0
        failing(node, () => {
          mounted = lines() - before
        })
        expect(await node.outcomes()).toMatchObject([
          { kind: 'MountVolume', state: 'failed', message: expect.not.stringContaining('left as it is') },
        ])
        expect({ mounted, left: lines() - before }).toEqual({ mounted: timesInTable(layout), left: 0 })
        node.context = {}
        expect(await node.ended()).toEqual(['MountVolume done'])
        expect(await node.operations()).toEqual([])
        node.forget(POD)
        expect(new Set(await node.applied({ orphans: true }))).toEqual(new Set(['done']))
        expect({ left: lines() - before, exists: existsSync(`${node.root}/${TARGET}`) }).toEqual({
          left: 0,
          exists: false,
        })
      }),
  )

  it.for(LAYOUTS)('S18: what somebody has mounted over it meanwhile stays, and is named: %s', (layout, { directory }) =>
    withNode(directory, layout, async (node) => {
      const other = `${directory}/other`
      mkdirSync(other)
      sh('mount', '-t', 'tmpfs', 'foreign', other)
      writeFileSync(`${other}/file`, 'kept')
      const own = foreigners()
      let put = 0
      failing(node, () => {
        sh('mount', '--bind', other, `${node.root}/${TARGET}`)
        put = foreigners() - own
      })
      const says = /left as it is: the mount on \S+ \(tmpfs mount \d+ of foreign on \S+ hides it\)/
      expect(await node.outcomes()).toMatchObject([{ message: expect.stringMatching(says) }])
      expect(put).toBeGreaterThan(0)
      expect(foreigners() - own).toBe(put)
      expect(readFileSync(`${node.root}/${TARGET}/file`, 'utf8')).toBe('kept')
    }),
  )

  // The tree is bound elsewhere, too, and the copy there hears of nothing any more.
  it('S18: a copy that stays when its mount has gone is named', ({ directory }) =>
    withNode(directory, 'shared-self-bind', async (node) => {
      const elsewhere = `${directory}-elsewhere`
      mkdirSync(elsewhere)
      sh('mount', '--bind', directory, elsewhere)
      const copy = `${elsewhere}/kubelet/${TARGET}`
      failing(node, () => {
        sh('mount', '--make-private', copy)
        mkdirSync(`${copy}/sub`)
        sh('mount', '-t', 'tmpfs', 'foreign', `${copy}/sub`)
      })
      const says =
        /left as it is: the mount on \S+ \(a copy of the mount remains, the tmpfs mount \d+ of \S+ on \S+: tmpfs mount \d+ of foreign on \S+\/sub is mounted on it\)/
      expect(await node.outcomes()).toMatchObject([{ message: expect.stringMatching(says) }])
      expect(node.mounts().at(copy)).toHaveLength(1)
      expect(node.mounts().top(`${node.root}/${TARGET}`)).toBe(undefined)
      sh('umount', '-R', copy)
      sh('umount', elsewhere)
      rmdirSync(elsewhere)
    }))
})
