import { describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/dead-mounts.ts', import.meta.url)

const noFuse =
  noMounts ??
  (await inNamespace(WORKER, 'possible').then(
    () => undefined,
    () => 'this machine has no FUSE',
  ))

describe.skipIf(noFuse !== undefined)(`dead mounts${noFuse === undefined ? '' : ` (${noFuse})`}`, () => {
  it('S18: are unmounted without being looked at, though their daemon never answers', async () => {
    expect(await inNamespace(WORKER, 'hung')).toEqual({
      dead: true,
      states: { a: 'done' },
      quick: true,
      left: 0,
      exists: false,
    })
  })

  it('are told from living ones, and unmounted, when their daemon is gone', async () => {
    expect(await inNamespace(WORKER, 'gone')).toEqual({
      dead: true,
      alive: false,
      states: { a: 'done' },
      exists: false,
    })
  })

  it('S19, S20: go by force where nothing shares the connection; by a lazy umount nothing follows unless it is shown to be gone', async () => {
    const found = await inNamespace<{ states: Record<string, string>; left: number }>(WORKER, 'lazyAndForce')
    expect(found.left).toBe(0)
    expect(found.states.force).toBe('done')
    expect(found.states.lazy).toMatch(/^(failed DetachedLazily|done)$/)
  })
})
