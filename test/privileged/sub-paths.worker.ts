/** Sub-paths of a pod that is gone, made as the kubelet makes them (P136), and what is left after an apply. */
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { inventory } from '../helpers/inventory.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { runScenario, sh } from '../helpers/scenario.ts'

interface Given {
  readonly planted: readonly Planted[]
  readonly options: Partial<PlanOptions>
  /** The volume is a tmpfs, and the sub-paths are parts of it. */
  readonly inMemory?: boolean
  /** The volume's own directory is gone. */
  readonly lost?: boolean
}

const POD = '00000000-0000-4000-8000-000000000001'

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

await runScenario({
  /** @param given JSON of Given */
  async clean(directory, [given = '']) {
    const { planted, inMemory, options, lost }: Given = JSON.parse(given)
    const outside = `${directory}/outside`
    mkdirSync(`${outside}/dir/below`, { recursive: true })
    for (const name of ['file', 'dir/a', 'dir/below/b']) writeFileSync(`${outside}/${name}`, 'precious')
    const node = new LiveNode(directory)
    node.pod(POD, 'app', [{ name: 'vol1', emptyDir: {} }])
    await node.apply()
    const pod = `${node.root}/pods/${POD}`
    const volume = `${pod}/volumes/kubernetes.io~empty-dir/vol1`
    const source = inMemory ? volume : outside
    if (inMemory) {
      sh('mount', '-t', 'tmpfs', 'tmpfs', volume)
      mkdirSync(`${volume}/dir`)
      writeFileSync(`${volume}/file`, 'data')
    }
    const base = `${pod}/volume-subpaths`
    for (const each of planted) plant(base, source, each)
    if (lost) sh('rm', '-r', `${pod}/volumes`, `${pod}/plugins`)
    const before = inventory(outside).join('\n')
    node.forget(POD)
    const plan = await node.plan(options)
    const outcomes = Object.values(statesOf(await node.apply(options)))
    const mounts = node.mounts().under(base)
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
      untouched: inventory(outside).join('\n') === before,
    }
  },
})
