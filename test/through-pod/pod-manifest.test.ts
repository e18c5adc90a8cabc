import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import { podManifest, podName } from '../../src/core/through-pod/pod-manifest.ts'

interface Pod {
  readonly metadata: Record<string, unknown>
  readonly spec: Record<string, unknown> & { readonly containers: readonly Record<string, unknown>[] }
}

const deployed = load(readFileSync(new URL('../../deploy/node-pod.yaml', import.meta.url), 'utf8')) as Pod
const options = {
  namespace: 'kube-system',
  image: 'volctl:0.1.0',
  pullPolicy: 'IfNotPresent',
  pullSecrets: [],
  limitSeconds: 60,
}
const made = podManifest({
  ...options,
  name: 'volctl',
  node: 'NODE',
  args: ['plan', '--host-root', '/host'],
  version: '0.1.0',
}) as Pod

it('is the Pod of deploy/node-pod.yaml, and ends by itself', () => {
  const { activeDeadlineSeconds, terminationGracePeriodSeconds, enableServiceLinks, ...spec } = made.spec
  expect(spec).toEqual(deployed.spec)
  expect({ activeDeadlineSeconds, terminationGracePeriodSeconds, enableServiceLinks }).toEqual({
    activeDeadlineSeconds: 60,
    terminationGracePeriodSeconds: 130,
    enableServiceLinks: false,
  })
  expect(made.metadata).toMatchObject(deployed.metadata)
})

it('takes what is given', () => {
  const given = { ...options, pullSecrets: ['a', 'b'], serviceAccount: 'volctl' }
  const { spec } = podManifest({ ...given, name: 'x', node: 'n', args: [], version: '1', locale: 'C.UTF-8' }) as Pod
  expect(spec).toMatchObject({
    imagePullSecrets: [{ name: 'a' }, { name: 'b' }],
    serviceAccountName: 'volctl',
    automountServiceAccountToken: true,
  })
  expect(spec.containers[0]).toMatchObject({ env: [{ name: 'LC_ALL', value: 'C.UTF-8' }] })
})

it.each([
  { node: 'node7', name: 'volctl-on-node7-abcde' },
  {
    node: 'ip-10-0-0-1.eu-central-1.compute.internal',
    name: 'volctl-on-ip-10-0-0-1.eu-central-1.compute.internal-abcde',
  },
  // Cut where a name may end.
  { node: `${'n'.repeat(46)}.${'x'.repeat(40)}`, name: `volctl-on-${'n'.repeat(46)}-abcde` },
])('a name for $node', ({ node, name }) => {
  expect(podName(node, 'abcdef12')).toBe(name)
  expect(name).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])$/)
})
