/** S29: all mounts of one driver dead at once is an outage of its backend, and no reason to undo anything. */
import { expect, it } from 'vitest'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node } from '../../helpers/node-builder.ts'
import { blocked, GONE, kinds, plan } from '../planned.ts'

const published = (name: string): string => `pods/${GONE}/volumes/kubernetes.io~csi/${name}/mount`
const staged = (handle: string): string => `${csiGlobalDir(DRIVER, handle)}/globalmount`

const dead = (built: NodeBuilder, ...paths: string[]): NodeBuilder =>
  paths.reduce((node, path) => node.dead(path), built)

const three = (): NodeBuilder => node().staged('a', '0:71').staged('b', '0:72').staged('c', '0:73')
it.each<[name: string, outage: boolean, built: NodeBuilder]>([
  ['three staged ones, no pod has any', true, dead(three(), staged('a'), staged('b'), staged('c'))],
  [
    'a staged one and a published one of another volume',
    true,
    dead(node().staged('a', '0:71').published(GONE, 'pv-b', '0:72'), staged('a'), published('pv-b')),
  ],
  [
    'one volume, staged and published: a daemon that died',
    false,
    dead(node().staged('a', '0:71').published(GONE, 'a', '0:71'), staged('a'), published('a')),
  ],
  ['two of three staged ones', false, dead(three(), staged('a'), staged('b'))],
  [
    'all that pods have, while a staged one lives',
    true,
    dead(
      node().published(GONE, 'pv-a', '0:71').published(GONE, 'pv-b', '0:72').staged('c', '0:73'),
      published('pv-a'),
      published('pv-b'),
    ),
  ],
])('S29 all mounts of one driver dead at once: %s: %s', (_name, outage, built) => {
  const made = plan(built)
  expect(made.operations.length).toBeGreaterThan(0)
  expect(kinds(made).length).toBe(outage ? 0 : made.operations.length)
  expect(new Set(blocked(made).map((each) => each.split(' ')[1]))).toEqual(new Set(outage ? ['OutageSuspected'] : []))
  expect(blocked(plan(built, { acceptOutage: made.inputs.pods.gone }))).toEqual([])
})
