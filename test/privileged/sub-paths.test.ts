/**
 * Clean-up of sub-paths (P136, P140 to P143) by plan and apply on real mounts: the cases of the kubelet's
 * TestCleanSubPaths, and what a container, or a person, may have put in the way.
 *
 * P137 to P139 are about making sub-paths, which happens when a container is created: volctl makes none.
 */
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { LiveNode, POD } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { sh } from '../helpers/scenario.ts'
import { inventory } from './inventory.ts'

interface Given {
  readonly planted: readonly Planted[]
}

/**
 * dir, file, link: plain entries (`with`: content, or where the link leads); bind: a bind mount of `with`, a part of
 * the outside, over a directory or a file; cover: another file system over it; below: another file system below it.
 */
interface Planted {
  readonly at: string
  readonly as: 'dir' | 'file' | 'link' | 'bind' | 'cover' | 'below'
  readonly with?: string
}

function plant(base: string, outside: string, { at, as, with: what = '' }: Planted): void {
  const path = `${base}/${at}`
  mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
  if (as === 'dir') mkdirSync(path, { recursive: true })
  if (as === 'file') writeFileSync(path, what)
  if (as === 'link') symlinkSync(`${outside}${what}`, path)
  if (as === 'bind') {
    if (lstatSync(`${outside}${what}`).isDirectory()) mkdirSync(path, { recursive: true })
    else writeFileSync(path, '')
    sh('mount', '--bind', `${outside}${what}`, path)
  }
  if (as === 'cover') sh('mount', '-t', 'tmpfs', 'tmpfs', path)
  if (as === 'below') {
    mkdirSync(`${path}/deep`)
    sh('mount', '-t', 'tmpfs', 'tmpfs', `${path}/deep`)
  }
}

const LEAF = 'vol1/container1/0'
const ORPHANS = { orphans: true }

const bind = (at: string, source = '/dir') => ({ at, as: 'bind', with: source }) as const
const CLEAN = { outcomes: ['done', 'done'], umounts: [], kept: [], left: [], top: false, pod: false }

/** Made as the kubelet makes them; what is left after an apply, and nothing outside may have changed. */
async function clean(directory: string, { planted }: Given) {
  const outside = `${directory}/outside`
  mkdirSync(`${outside}/dir/below`, { recursive: true })
  for (const name of ['file', 'dir/a', 'dir/below/b']) writeFileSync(`${outside}/${name}`, 'precious')
  const node = new LiveNode(directory)
  node.pod(POD, 'app', [{ name: 'vol1', emptyDir: {} }])
  await node.apply()
  const pod = `${node.root}/pods/${POD}`
  const base = `${pod}/volume-subpaths`
  for (const each of planted) plant(base, outside, each)
  const before = inventory(outside).join('\n')
  node.forget(POD)
  const plan = await node.plan(ORPHANS)
  const outcomes = await node.applied(ORPHANS)
  const mounts = node.mounts().under(base)
  expect(inventory(outside).join('\n')).toBe(before)
  return {
    outcomes,
    blocked: plan.operations.flatMap((operation) => operation.blocked?.code ?? []),
    kept: plan.problems.flatMap(({ code, about }) =>
      about.path === undefined ? [] : `${code} ${about.path.slice(pod.length)}`,
    ),
    umounts: plan.operations.flatMap(({ steps }) =>
      steps.flatMap(({ op, target }) => (op === 'umount' ? [target.slice(pod.length + 1)] : [])),
    ),
    // Names alone where something is still mounted: what is below is not the pod's.
    left: existsSync(base)
      ? sh('find', base, '-mindepth', '1', '-printf', '%P\n')
          .split('\n')
          .filter(
            (name) => name !== '' && !mounts.some((mount) => `${base}/${name}`.startsWith(`${mount.mountPoint}/`)),
          )
          .toSorted()
      : [],
    top: existsSync(base),
    pod: existsSync(pod),
  }
}

describe('sub-paths', () => {
  it.for<Given & { readonly name: string; readonly want: object }>([
    { name: 'subpath-not-mount', planted: [{ at: LEAF, as: 'dir' }], want: CLEAN },
    { name: 'subpath-file', planted: [{ at: LEAF, as: 'file' }], want: CLEAN },
    {
      // The kubelet fails and keeps the volume, so that nothing else of the pod is cleaned. Here the volume goes, since
      // no mount of it is left, and the pod's directory stays with what nobody knows.
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
      // Newest first, not by name: what was mounted later may depend on what was mounted before (P155).
      name: 'subpath-mount-multiple, one of them a file',
      planted: [bind(LEAF), { at: 'vol1/container1/1', as: 'dir' }, bind('vol1/container2/1', '/file')],
      want: { ...CLEAN, umounts: ['volume-subpaths/vol1/container2/1', `volume-subpaths/${LEAF}`] },
    },
    {
      name: 'P140: the same sub-path mounted twice',
      planted: [bind(LEAF), bind(LEAF)],
      want: { ...CLEAN, umounts: [`volume-subpaths/${LEAF}`, `volume-subpaths/${LEAF}`] },
    },
  ])('$name', async ({ want, ...given }, { directory }) => {
    expect(await clean(directory, given)).toMatchObject({ ...want, blocked: [] })
  })

  it.for<Given & { readonly name: string; readonly keeps: string; readonly unknown?: boolean }>([
    { name: 'a directory with content', planted: [{ at: `${LEAF}/x`, as: 'file', with: 'data' }], keeps: `${LEAF}/x` },
    { name: 'a link in the place of the sub-path', planted: [{ at: LEAF, as: 'link', with: '/dir' }], keeps: LEAF },
    {
      name: 'a link in the place of the container',
      planted: [{ at: 'vol1/container1', as: 'link' }],
      keeps: 'vol1/container1',
      // S8: what is behind a link in place of a directory of the kubelet's is not known.
      unknown: true,
    },
    { name: 'a file in the place of the volume', planted: [{ at: 'vol1', as: 'file' }], keeps: 'vol1' },
  ])('keeps $name, and says so', async ({ planted, keeps, unknown = false }, { directory }) => {
    const found = await clean(directory, { planted })
    expect(found).toMatchObject({
      outcomes: ['done'],
      kept: ['OrphanDirKept', ...(unknown ? ['LinkInPlace'] : [])].map((code) => `${code} /volume-subpaths/${keeps}`),
      umounts: [],
      pod: true,
    })
    expect(found).toMatchObject({ left: expect.arrayContaining([keeps]) })
  })

  it.for<Given & { readonly name: string }>([
    { name: 'over a sub-path', planted: [bind(LEAF), { at: LEAF, as: 'cover' }] },
    { name: 'below a sub-path', planted: [bind(LEAF), { at: LEAF, as: 'below' }] },
    { name: 'over the container', planted: [bind(LEAF), { at: 'vol1/container1', as: 'cover' }] },
  ])('touches nothing where another file system is mounted $name (S18)', async ({ planted }, { directory }) => {
    expect(await clean(directory, { planted })).toMatchObject({
      outcomes: ['blocked ForeignMount'],
      blocked: ['ForeignMount'],
      pod: true,
    })
  })
})
