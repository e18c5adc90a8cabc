/** S29: all mounts of one driver dead at once is an outage of its backend, and no reason to undo anything. */
import { describe, expect, it } from 'vitest'
import { csiGlobalDir } from '../../../src/core/names/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT } from '../../helpers/node-builder.ts'
import { blocked, GONE, kinds, plan } from '../planned.ts'

const published = (name: string): string => `pods/${GONE}/volumes/kubernetes.io~csi/${name}/mount`
const staged = (handle: string): string => `${csiGlobalDir(DRIVER, handle)}/globalmount`

const dead = (built: NodeBuilder, ...paths: string[]): NodeBuilder => {
  built.with({ deadMounts: paths.map((path) => ({ path: `${ROOT}/${path}`, error: 'ENOTCONN' })) })
  return built
}

describe('S29 all mounts of one driver dead at once', () => {
  it.each<{ name: string; built: NodeBuilder; outage: boolean }>([
    {
      name: 'three staged ones, no pod has any',
      built: dead(
        node().staged('a', '0:71').staged('b', '0:72').staged('c', '0:73'),
        ...['a', 'b', 'c'].map((handle) => staged(handle)),
      ),
      outage: true,
    },
    {
      name: 'a staged one and a published one of another volume',
      built: dead(node().staged('a', '0:71').published(GONE, 'pv-b', '0:72'), staged('a'), published('pv-b')),
      outage: true,
    },

    {
      name: 'one volume, staged and published: a daemon that died',
      built: dead(node().staged('a', '0:71').published(GONE, 'a', '0:71'), staged('a'), published('a')),
      outage: false,
    },
    {
      name: 'two of three staged ones',
      built: dead(node().staged('a', '0:71').staged('b', '0:72').staged('c', '0:73'), staged('a'), staged('b')),
      outage: false,
    },

    {
      name: 'all that pods have, while a staged one lives',
      built: dead(
        node().published(GONE, 'pv-a', '0:71').published(GONE, 'pv-b', '0:72').staged('c', '0:73'),
        published('pv-a'),
        published('pv-b'),
      ),
      outage: true,
    },
  ])('$name: $outage', ({ built, outage }) => {
    const made = plan(built)
    expect(made.operations.length).toBeGreaterThan(0)
    expect(kinds(made).length).toBe(outage ? 0 : made.operations.length)
    expect(new Set(blocked(made).map((each) => each.split(' ')[1]))).toEqual(new Set(outage ? ['OutageSuspected'] : []))
    expect(blocked(plan(built, { acceptOutage: made.inputs.pods.gone }))).toEqual([])
  })
})
