/** S13: what could not be read whole is neither counted nor taken for the kubelet's own. */
import { describe, expect, it } from 'vitest'
import { HOUR_AGO, type NodeBuilder, node } from '../helpers/node-builder.ts'
import { DATA, GONE, ops, outcome, plan, UNCOUNTED, withOrphans } from './planned.ts'

const PROJECTED = `pods/${GONE}/volumes/kubernetes.io~configmap/v`
const EMPTY_DIR = `pods/${GONE}/volumes/kubernetes.io~empty-dir/v`
const unreadable = (built: NodeBuilder, path: string, error: string): NodeBuilder =>
  built.entry({ path, type: 'dir', error, mtime: HOUR_AGO })

/** Content as the kubelet's atomic writer leaves it. */
const written = (): NodeBuilder => node().configMap(GONE, 'v', { key: 'v' })

describe('a directory that could not be read whole', () => {
  it.each([
    ['in a configMap', () => unreadable(written(), `${PROJECTED}/sub`, 'EIO')],
    ['a configMap itself', () => unreadable(written(), PROJECTED, 'more than 10000 entries')],
  ])('%s: nothing is deleted, with or without --orphans', (_name, build) => {
    for (const orphans of [false, true])
      expect(outcome(plan(build(), { orphans }))).toEqual(['UnmountVolume NodeUnreadable'])
  })
  it('an emptyDir itself: deleted with --orphans, and not counted', () => {
    const built = unreadable(node(), EMPTY_DIR, 'more than 10000 entries')
    for (const name of ['a', 'b']) built.file(`${EMPTY_DIR}/${name}`, 'x')
    expect(withOrphans(built)).toEqual(UNCOUNTED)
  })
  it.each([`${EMPTY_DIR}/sub`, EMPTY_DIR])('an emptyDir that shows no file: the same (%s)', (path) => {
    const built = unreadable(node(), path, 'EIO')
    built.file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/v/ready`)
    expect(withOrphans(built)).toMatchObject([...DATA, { counted: false }])
    expect(ops(plan(built, { orphans: true }))[0]).toContain('deleteContent')
  })
})
