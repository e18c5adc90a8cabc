/** Of several reasons that block an operation the first is shown, in the order of rules/rules.ts. */
import { expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { nodeObject } from '../helpers/objects.ts'
import { GONE, plan } from '../reconcile/planned.ts'

const published = (name: string): string => `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/${name}/mount`

/** Two mounted volumes of a pod that is gone. */
const two = (): NodeBuilder => node().published(GONE, 'pv-a', '0:71').published(GONE, 'pv-b', '0:72')
const bothDead = { deadMounts: ['pv-a', 'pv-b'].map((name) => ({ path: published(name), error: 'ENOTCONN' })) }
const detached = { lazilyDetached: [{ path: published('pv-a'), dev: '0:70' }] }

const hidden = two().mountLine(`${ROOT}/pods/${GONE}`, '/', '0:99', 'tmpfs', 'tmpfs')
const unmanaged = node()
  .persistentVolume('pv-a')
  .withApi({ node: nodeObject({}, { annotations: {} }) })
const use = { kind: 'UnmountVolume', target: published('pv-a'), code: 'HeldBy', message: 'm' } as const

const withoutDriver = (built: NodeBuilder): NodeBuilder => {
  built.drivers = []
  return built
}

it.each([
  ['its phase has one', withoutDriver(two()), {}, 'DriverUnavailable'],
  ['its backend is away, and its phase has one', withoutDriver(two()), bothDead, 'OutageSuspected'],
  ['its backend is away, and it was detached lazily', two(), { ...bothDead, ...detached }, 'DetachedLazily'],
  ['it was detached lazily, and its phase has one', withoutDriver(two()), detached, 'DetachedLazily'],
  ['another mount hides it', hidden, {}, 'ForeignMount'],
  ['it was in use when it was looked at', two(), { inUse: [use] }, 'HeldBy'],
  ['the controller does not manage the node', unmanaged, {}, 'NotManaged'],
])('the first reason wins: %s', (_, built, override, code) => {
  built.with(override)
  const { operations } = plan(built)
  expect(operations.find(({ volume }) => volume?.name === 'pv-a')?.blocked?.code).toBe(code)
})
