import { expect, it } from 'vitest'
import { parseKubeletFlags, withoutSecrets } from '../../../src/core/node/kubelet/kubelet-flags.ts'

it.each([
  ['an equals sign', ['--root-dir=/srv/k'], { 'root-dir': '/srv/k' }],
  ['two words', ['--root-dir', '/srv/k'], { 'root-dir': '/srv/k' }],
  ['underscores', ['--root_dir=/srv/k_1'], { 'root-dir': '/srv/k_1' }],
  ['the last of several', ['--root-dir=/a', '--root-dir', '/b'], { 'root-dir': '/b' }],
  ['an empty value', ['--kubeconfig='], { kubeconfig: '' }],
  ['an equals sign in the value', ['--node-labels=a=b'], { 'node-labels': 'a=b' }],
  ['a bare boolean before another flag', ['--fail-swap-on', '--config=/c'], { 'fail-swap-on': 'true', config: '/c' }],
  ['a bare boolean at the end', ['--fail-swap-on'], { 'fail-swap-on': 'true' }],
  ['a text that begins with a dash', ['--hostname-override', '-x'], { 'hostname-override': '-x' }],
  ['the end of flags', ['--config=/c', '--', '--config=/d'], { config: '/c' }],
  ['short flags', ['-v', '4', '--config', '/c'], { config: '/c' }],
])('parseKubeletFlags: reads %s', (_name, args, want) =>
  expect(Object.fromEntries(parseKubeletFlags(args))).toEqual(want),
)

it('hides headers, which may carry credentials', () => {
  expect(withoutSecrets(['--manifest-url-header=a:b', '--config=/c'])).toEqual([
    '--manifest-url-header=(hidden)',
    '--config=/c',
  ])
  expect(withoutSecrets(['--manifest_url_header', 'a:b', '--config', '/c'])).toEqual([
    '--manifest_url_header',
    '(hidden)',
    '--config',
    '/c',
  ])
})
