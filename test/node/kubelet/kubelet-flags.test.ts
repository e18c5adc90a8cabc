import { describe, expect, it } from 'vitest'
import { parseKubeletFlags, withoutSecrets } from '../../../src/core/node/kubelet/kubelet-flags.ts'

describe('parseKubeletFlags', () => {
  it.each([
    { name: 'an equals sign', args: ['--root-dir=/srv/k'], want: { 'root-dir': '/srv/k' } },
    { name: 'two words', args: ['--root-dir', '/srv/k'], want: { 'root-dir': '/srv/k' } },
    { name: 'underscores', args: ['--root_dir=/srv/k_1'], want: { 'root-dir': '/srv/k_1' } },
    { name: 'the last of several', args: ['--root-dir=/a', '--root-dir', '/b'], want: { 'root-dir': '/b' } },
    { name: 'an empty value', args: ['--kubeconfig='], want: { kubeconfig: '' } },
    { name: 'an equals sign in the value', args: ['--node-labels=a=b'], want: { 'node-labels': 'a=b' } },
    {
      name: 'a bare boolean before another flag',
      args: ['--fail-swap-on', '--config=/c'],
      want: { 'fail-swap-on': 'true', config: '/c' },
    },
    { name: 'a bare boolean at the end', args: ['--fail-swap-on'], want: { 'fail-swap-on': 'true' } },
    {
      name: 'a text that begins with a dash',
      args: ['--hostname-override', '-x'],
      want: { 'hostname-override': '-x' },
    },
    { name: 'the end of flags', args: ['--config=/c', '--', '--config=/d'], want: { config: '/c' } },
    { name: 'short flags', args: ['-v', '4', '--config', '/c'], want: { config: '/c' } },
  ])('reads $name', ({ args, want }) => expect(Object.fromEntries(parseKubeletFlags(args))).toEqual(want))
})

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
