/**
 * Clean-up of sub-paths (P136, P140 to P143) by plan and apply on real mounts: the cases of the kubelet's
 * TestCleanSubPaths, and what a container, or a person, may have put in the way.
 *
 * P137 to P139 are about making sub-paths, which happens when a container is created: volctl makes none.
 */
import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./sub-paths.worker.ts', import.meta.url)
const LEAF = 'vol1/container1/0'

const bind = (at: string, source = '/dir') => ({ at, as: 'bind', with: source }) as const
const CLEAN = { outcomes: ['done', 'done'], umounts: [], kept: [], left: [], top: false, pod: false }

function clean(given: object): Promise<object> {
  return inSameNamespace(WORKER, 'clean', [JSON.stringify({ options: { orphans: true }, ...given })])
}

describe.skipIf(noMounts !== undefined)(`sub-paths${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it.each([
    { name: 'not-exists', planted: [], want: CLEAN },
    { name: 'subpath-not-mount', planted: [{ at: LEAF, as: 'dir' }], want: CLEAN },
    { name: 'subpath-file', planted: [{ at: LEAF, as: 'file' }], want: CLEAN },
    {
      // The kubelet fails and keeps the volume, so that nothing else of the pod is cleaned. Here the volume goes, since
      // no mount of it is left, and the pod's directory stays with what nobody knows.
      name: 'subpath-container-not-dir',
      planted: [{ at: 'vol1/container1', as: 'file' }],
      want: {
        outcomes: ['done'],
        kept: ['OrphanDirKept /volume-subpaths/vol1/container1'],
        left: ['vol1', 'vol1/container1'],
        pod: true,
      },
    },
    {
      name: 'subpath-multiple-container-not-dir: the good one goes',
      planted: [bind(LEAF), { at: 'vol1/container2', as: 'file' }],
      want: {
        outcomes: ['done'],
        umounts: [`volume-subpaths/${LEAF}`],
        kept: ['OrphanDirKept /volume-subpaths/vol1/container2'],
        left: ['vol1', 'vol1/container2'],
        pod: true,
      },
    },
    {
      name: 'subpath-mount',
      planted: [bind(LEAF)],
      want: { ...CLEAN, umounts: [`volume-subpaths/${LEAF}`] },
    },
    {
      // Newest first, not by name: what was mounted later may depend on what was mounted before (P155).
      name: 'subpath-mount-multiple, one of them a file',
      planted: [bind(LEAF), { at: 'vol1/container1/1', as: 'dir' }, bind('vol1/container2/1', '/file')],
      want: { ...CLEAN, umounts: ['volume-subpaths/vol1/container2/1', `volume-subpaths/${LEAF}`] },
    },
    {
      name: 'subpath-mount-multiple-vols: only the one that was asked for',
      planted: [bind(LEAF), bind('vol2/container1/1')],
      options: { orphans: true, volumes: ['vol1'] },
      want: {
        outcomes: ['done'],
        umounts: [`volume-subpaths/${LEAF}`],
        left: ['vol2', 'vol2/container1', 'vol2/container1/1'],
        pod: true,
      },
    },
    {
      name: 'P140: the same sub-path mounted twice',
      planted: [bind(LEAF), bind(LEAF)],
      want: { ...CLEAN, umounts: [`volume-subpaths/${LEAF}`, `volume-subpaths/${LEAF}`] },
    },
    {
      name: 'P142: the volume has no directory any more, and the kubelet would leave it for ever',
      planted: [bind(LEAF)],
      lost: true,
      want: { ...CLEAN, umounts: [`volume-subpaths/${LEAF}`] },
    },
    {
      name: 'P143: sub-paths come off before the volume that they are parts of',
      planted: [bind(LEAF), bind('vol1/container1/1', '/file')],
      inMemory: true,
      want: {
        ...CLEAN,
        umounts: [
          'volume-subpaths/vol1/container1/1',
          `volume-subpaths/${LEAF}`,
          'volumes/kubernetes.io~empty-dir/vol1',
        ],
      },
    },
  ])('$name', async ({ want, ...given }) => {
    expect(await clean(given)).toMatchObject({ ...want, blocked: [], untouched: true })
  })

  it.each([
    // P141: the kubelet removes the file, whatever is in it. It may be data that was written while nothing was mounted.
    { name: 'a file with content', planted: [{ at: LEAF, as: 'file', with: 'data' }], keeps: LEAF },
    { name: 'a directory with content', planted: [{ at: `${LEAF}/x`, as: 'file', with: 'data' }], keeps: `${LEAF}/x` },
    { name: 'a link in the place of the sub-path', planted: [{ at: LEAF, as: 'link', with: '/dir' }], keeps: LEAF },
    {
      name: 'a link in the place of the container',
      planted: [{ at: 'vol1/container1', as: 'link' }],
      keeps: 'vol1/container1',
      // S8: what is behind a link in place of a directory of the kubelet's is not known.
      unknown: true,
    },
    { name: 'a link in the place of the volume', planted: [{ at: 'vol1', as: 'link' }], keeps: 'vol1', unknown: true },
    { name: 'a file in the place of the volume', planted: [{ at: 'vol1', as: 'file' }], keeps: 'vol1' },
  ])('keeps $name, and says so', async ({ planted, keeps, unknown }) => {
    const found = await clean({ planted })
    expect(found).toMatchObject({
      outcomes: ['done'],
      kept: ['OrphanDirKept', ...(unknown ? ['LinkInPlace'] : [])].map((code) => `${code} /volume-subpaths/${keeps}`),
      umounts: [],
      pod: true,
      untouched: true,
    })
    expect(found).toMatchObject({ left: expect.arrayContaining([keeps]) })
  })

  it.each([
    { name: 'over a sub-path', planted: [bind(LEAF), { at: LEAF, as: 'cover' }] },
    { name: 'below a sub-path', planted: [bind(LEAF), { at: LEAF, as: 'below' }] },
    { name: 'over the container', planted: [bind(LEAF), { at: 'vol1/container1', as: 'cover' }] },
  ])('touches nothing where another file system is mounted $name (S18)', async ({ planted }) => {
    expect(await clean({ planted })).toMatchObject({
      outcomes: ['blocked ForeignMount'],
      blocked: ['ForeignMount'],
      pod: true,
      untouched: true,
    })
  })
})
