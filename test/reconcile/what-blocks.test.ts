/** Of several reasons that block an operation the first is shown, in the order of what-blocks.ts. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { GONE, only, plan } from './planned.ts'

const published = (name: string): string => `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/${name}/mount`

/** Two mounted volumes of a pod that is gone. */
const two = (): NodeBuilder => node().published(GONE, 'pv-a', '0:71').published(GONE, 'pv-b', '0:72')
const bothDead = { deadMounts: ['pv-a', 'pv-b'].map((name) => ({ path: published(name), error: 'ENOTCONN' })) }
const detached = { lazilyDetached: [{ path: published('pv-a'), dev: '0:70' }] }
const untrusted = { lazyMemory: { path: '/var/lib/volctl/lazy.jsonl', why: 'owned by uid 1000' } }

const withoutDriver = (built: NodeBuilder): NodeBuilder => {
  built.drivers = []
  return built
}

describe('the first reason wins', () => {
  it.each([
    ['its phase has one', withoutDriver(two()), {}, 'DriverUnavailable'],
    ['its backend is away, and its phase has one', withoutDriver(two()), bothDead, 'OutageSuspected'],
    ['its backend is away, and it was detached lazily', two(), { ...bothDead, ...detached }, 'DetachedLazily'],
    ['it was detached lazily, and its phase has one', withoutDriver(two()), detached, 'DetachedLazily'],
  ])('%s', (_, built, override, code) => {
    built.override = override
    const { operations } = plan(built)
    expect(operations.find(({ volume }) => volume?.name === 'pv-a')?.blocked?.code).toBe(code)
  })

  it('a phase that has one comes before what nobody can know of lazy unmounts', () => {
    const staged = node().staged('pv-a', '0:71')
    staged.override = untrusted
    expect(only(plan(staged), 'UnmountDevice').blocked?.code).toBe('LazyMemoryUnusable')
    expect(only(plan(withoutDriver(staged)), 'UnmountDevice').blocked?.code).toBe('DriverUnavailable')
  })
})
