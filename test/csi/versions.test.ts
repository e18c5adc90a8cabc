import { expect, test } from 'vitest'
import { compareVersions, highestSupportedVersion } from '../../src/core/rpc/discover-csi-sockets.ts'

/** @see Kubernetes TestValidatePlugin, pkg/volume/csi/csi_plugin_test.go */
test.each([
  [['0.2.0', 'v1.0.0'], 'v1.0.0'],
  [['v1.2.3', '4.9.12', 'v0.3.0', '2.0.1'], 'v1.2.3'],
  [['v1.2.3', 'boo', 'v0.3.0', '2.0.1'], 'v1.2.3'],
  [['1.2.3', '1.10.0', '1.9'], '1.10.0'],
  [['0.2.0', 'v0.3.0'], undefined],
  [[], undefined],
  [['1'], undefined],
  [['1.02.0'], undefined],
])('of %j the kubelet takes %s', (announced, highest) => {
  expect(highestSupportedVersion(announced)).toBe(highest)
})

test.each([
  ['v1.0', '1.0.0', 0],
  ['1.9.0', '1.10.0', -1],
  ['1.2.1', '1.2', 1],
])('%s against %s', (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign)
  expect(Math.sign(compareVersions(b, a))).toBe(sign === 0 ? 0 : -sign)
})
