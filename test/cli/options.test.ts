import { describe, expect, it } from 'vitest'
import { stateDirectory } from '../../src/core/cli/cluster-apply.ts'
import { givenBy } from '../../src/core/cli/command-context.ts'
import { clusterOptions, parseOperationKinds, planOptions, requireOneNode } from '../../src/core/cli/options.ts'
import { plainSwitches } from '../../src/core/cli/volctl-command.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { volctl } from '../helpers/run-main.ts'

const none = { orphans: false, remount: false, expand: false }

describe('--only and --skip', () => {
  it.each([
    ['unmount', ['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume']],
    ['detach,device', ['UnmountDevice', 'UnmapDevice', 'DetachVolume']],
    ['DetachVolume', ['DetachVolume']],
    ['unmountvolume, unmount', ['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume']],
  ])('%s', (text, kinds) => expect(parseOperationKinds(text, '--only')).toEqual(kinds))

  it.each(['', ',', 'foo', 'unmount,foo', 'toString'])('"%s" is refused', (text) =>
    expect(() => parseOperationKinds(text, '--only')).toThrow(VolctlError),
  )
})

it('without flags: nothing extra, two minutes to settle', () =>
  expect(planOptions(none, '1.2.3')).toEqual({
    ...none,
    settleMs: 120_000,
    driverGone: [],
    handles: {},
    forceUnmount: [],
    lazy: [],
    volctlVersion: '1.2.3',
  }))

it('a handle may contain "="', () =>
  expect(planOptions({ ...none, handle: ['pv-a=vol=1', 'pv-b=x'] }, '1').handles).toEqual({
    'pv-a': 'vol=1',
    'pv-b': 'x',
  }))

it.each([
  ['device', { device: ['pv-a=sdb'] }, '--device: "pv-a=sdb" is not VOLUME=/dev/NAME or VOLUME=none.'],
  ['handle', { handle: ['pv-a'] }, '--handle: "pv-a" is not VOLUME=HANDLE.'],
  ['handle without volume', { handle: ['=x'] }, '--handle: "=x" is not VOLUME=HANDLE.'],
  ['accept-outage', { 'accept-outage': '1e3' }, '--accept-outage: "1e3" is not a whole number of 0 or more.'],
  ['lazy', { lazy: ['pods/x'] }, '--lazy: "pods/x" is not an absolute path.'],
  ['pod', { pod: ['a/b/c'] }, '--pod: "a/b/c" is not [NAMESPACE/]NAME or a UID.'],
  ['pod', { pod: [''] }, '--pod: "" is not [NAMESPACE/]NAME or a UID.'],
])('a bad value of --%s is one clear line', (_, flags, message) =>
  expect(() => planOptions({ ...none, ...flags }, '1')).toThrow(message),
)

describe('--node', () => {
  it.each([
    { node: undefined, nodes: undefined },
    { node: ['a'], nodes: ['a'] },
    { node: ['a,b', 'c', ','], nodes: ['a', 'b', 'c'] },
  ])('of a cluster: $node', ({ node, nodes }) => {
    expect(clusterOptions({ cluster: true, node }, planOptions(none, '1')).nodes).toEqual(nodes)
    expect(() => requireOneNode({ cluster: true, node })).not.toThrow()
  })

  it('names one node where the pass is over one', () => {
    expect(() => requireOneNode({ node: ['a'] })).not.toThrow()
    expect(() => requireOneNode({ node: ['a', 'b'] })).toThrow('a pass over one node takes one --node')
  })
})

const NODE_FLAGS: readonly (readonly string[])[] = [
  ...['orphans', 'remount', 'expand', 'no-wait', 'stop-kubelet', 'watch'].map((name) => [`--${name}`]),
  ...['force-unmount', 'lazy', 'root-dir', 'host-root', 'driver-gone', 'accept-identity', 'runtime-endpoint'].map(
    (name) => [`--${name}`, '/x'],
  ),
  ...[
    ['--handle', 'a=b'],
    ['--device', 'a=none'],
    ['--parallel', '2'],
    ['--stop-kubelet', '--max-downtime', '9m'],
  ],
]
const CLUSTER_FLAGS = [['--node-gone', 'x']]
const commandOf = ([flag = '']: readonly string[]): string =>
  ['no-wait', 'stop-kubelet', 'parallel'].includes(flag.slice(2)) ? 'apply' : 'plan'

it.each([
  ...NODE_FLAGS.map((flag) => ({ args: [commandOf(flag), '--cluster', ...flag], says: '--cluster' })),
  ...CLUSTER_FLAGS.map((flag) => ({ args: [commandOf(flag), ...flag], says: '--cluster' })),
  { args: ['snapshot', '--cluster', '--root-dir', '/x'], says: '--root-dir' },
])('a flag of one pass does not go with the other: $args', async ({ args, says }) => {
  const { status, stdout, stderr } = await volctl([...args, '--kubeconfig', '/nonexistent'])
  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(says) })
  expect(stderr).toMatch(/^volctl: --[\w-]+ (does not go with|needs) --[\w-]+/)
})

it('what is typed next on the node itself names no path of the container', () => {
  const { applyFlags, nodeFlags } = givenBy({ 'host-root': '/host', kubeconfig: '/k', orphans: true }, 0)
  expect(applyFlags).toEqual(['--orphans', '--kubeconfig', '/k', '--host-root', '/host'])
  expect(nodeFlags).toEqual(['--orphans'])
})

const FLAGS = { yes: { type: 'boolean' }, orphans: { type: 'boolean' }, pod: { type: 'option' } }

it.each([
  { given: ['--yes'], means: ['--yes'] },
  { given: ['--yes=true'], means: ['--yes'] },
  { given: ['--yes=false'], means: [] },
  { given: ['--orphans', '--yes=false', 'node.plan'], means: ['--orphans', 'node.plan'] },
  { given: ['--pod=yes=false'], means: ['--pod=yes=false'] },
  { given: ['--', '--yes=false'], means: ['--', '--yes=false'] },
])('$given means $means', ({ given, means }) => expect(plainSwitches(given, FLAGS)).toEqual(means))

it.each(['--yes=', '--yes=no', '--yes=0', '--orphans=False'])('%s is a usage error', (given) => {
  expect(() => plainSwitches([given], FLAGS)).toThrow(/is not true or false/)
})

describe('where the journal is', () => {
  it.each([
    [{ XDG_STATE_HOME: '/s', HOME: '/h' }, '/s/volctl'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/volctl'],
    [{ HOME: '/h' }, '/h/.local/state/volctl'],
  ])('%j', (environment, directory) => expect(stateDirectory(environment)).toBe(directory))

  it('nowhere, without a home', () => expect(() => stateDirectory({})).toThrow('there is no place for the journal'))
})
