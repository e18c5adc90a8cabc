import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ADMIN_FILES, discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'
import type { VolctlError } from '../../../src/core/messages/findings.ts'
import type { Environment } from '../../../src/core/trust/run.ts'
import { temporaryDirectory, thrownBy } from '../connect.ts'

/** A kubeconfig with one context per name, each with a server of its own. */
function config(...names: string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: names.map((name) => ({ name, cluster: { server: `https://${name}.example:6443` } })),
    users: names.map((name) => ({ name, user: { token: `secret-${name}` } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
    'current-context': names[0],
  }
}

const NOT_ROOT = /^On a node, run it as root: sudo volctl\. Elsewhere give a kubeconfig: --kubeconfig FILE/
const NOWHERE = { HOME: '/nonexistent' }

describe('where the kubeconfig is looked for', () => {
  it('takes --kubeconfig alone, whatever the environment says', () => {
    const directory = temporaryDirectory()
    const found = discoverKubeConfig({
      kubeconfig: directory.write('flag', config('flag')),
      env: { KUBECONFIG: directory.write('env', config('env')) },
    })
    expect(found).toMatchObject({ server: 'https://flag.example:6443', kind: 'kubeconfig' })
  })

  it('merges the files of KUBECONFIG, the first definition winning, missing ones skipped', async () => {
    const directory = temporaryDirectory()
    const first = directory.write('first', config('a', 'b'))
    const other = { ...config('c'), clusters: [{ name: 'a', cluster: { server: 'https://late.example' } }] }
    const second = directory.write('second', {
      ...other,
      contexts: [{ name: 'c', context: { cluster: 'a', user: 'c' } }],
    })
    const env = { KUBECONFIG: `${directory.path}/missing:${first}:${second}` }
    for (const context of [undefined, 'c']) {
      const found = discoverKubeConfig({ env, context })
      expect(found.server).toBe('https://a.example:6443')
      expect((await found.load()).headers.Authorization).toBe(`Bearer secret-${context ?? 'a'}`)
    }
  })

  it.each([
    {
      name: "the person's own",
      files: { '.kube/config': 'home', 'etc/kubernetes/admin.conf': 'admin' },
      server: 'home',
      kind: 'kubeconfig',
    },
    {
      name: "the kubelet's own before a well-known one",
      files: { 'etc/kubernetes/kubelet.conf': 'known' },
      own: 'own',
      server: 'own',
      kind: 'kubelet',
    },
    {
      name: 'what is no KubeletConfiguration (N23)',
      files: { 'etc/kubernetes/kubelet.conf': '', 'var/lib/kubelet/kubeconfig': 'real' },
      server: 'real',
      kind: 'kubelet',
    },
  ])('takes $name', ({ files, own, server, kind }) => {
    const directory = temporaryDirectory()
    for (const [path, name] of Object.entries(files))
      directory.write(path, name === '' ? 'kind: KubeletConfiguration' : config(name))
    const found = discoverKubeConfig({
      env: { HOME: directory.path },
      hostRoot: directory.path,
      kubeletKubeconfig: own === undefined ? undefined : directory.write('own', config(own)),
    })
    expect(found).toMatchObject({ server: `https://${server}.example:6443`, kind })
  })

  it('none: the message names the places, those with a file first, why each has none, and what to type', () => {
    const directory = temporaryDirectory()
    const at = (path: string): string => join(directory.path, path)
    const look = (env: Environment): VolctlError =>
      thrownBy(() => discoverKubeConfig({ env, hostRoot: directory.path }))
    const nothingThere = look({ HOME: directory.path })
    const says = (...lines: string[]): string =>
      ['No kubeconfig was found.', ...lines, 'Nor in 10 more places (--verbose lists them).'].join(' ')
    const absent = ['.kube/config', ...ADMIN_FILES].map((path) => `${at(path)} does not exist.`)
    expect(nothingThere.message).toBe(says(...absent.slice(0, 4)))
    directory.write('etc/kubernetes/kubelet.conf', 'kind: KubeletConfiguration')
    directory.write('var/lib/kubelet/kubeconfig/is', 'a directory')
    expect(look({ HOME: directory.path }).message).toBe(
      says(
        `${at('etc/kubernetes/kubelet.conf')}: it is a KubeletConfiguration, not a kubeconfig.`,
        `${at('var/lib/kubelet/kubeconfig')} is a directory, not a file.`,
        ...absent.slice(0, 2),
      ),
    )
    const isRoot = process.geteuid?.() === 0
    expect(nothingThere.hint).toMatch(isRoot ? /^Give one: --kubeconfig FILE, or KUBECONFIG\.$/ : NOT_ROOT)
    const alices = /alice's own .*: --kubeconfig ~alice\/.kube\/config$/
    expect(look({ ...NOWHERE, SUDO_USER: 'alice' }).hint).toMatch(isRoot ? alices : NOT_ROOT)
    expect(look({ ...NOWHERE, SUDO_USER: '$(id)' }).hint).toBe(nothingThere.hint)
  })
})

describe('a kubeconfig that cannot be used is one clear line', () => {
  it.each([
    { name: 'no YAML', content: 'a: [secret-token\nb: }', says: /damaged: not valid YAML/ },
    { name: 'another kind', content: 'kind: Pod', says: /is a Pod/ },
    {
      name: 'no current context',
      content: { ...config('a'), 'current-context': '' },
      says: /Its contexts: a\./,
    },
    {
      name: 'an unknown current context',
      content: { ...config('a', 'b'), 'current-context': 'x' },
      says: /no context "x".*Its contexts: a, b\./,
    },
    ...['nonsense', '127.0.0.1:6443', 'https://127.0.0.1:99999'].map((address) => ({
      name: `a server that is no URL: ${address}`,
      content: { ...config('a'), clusters: [{ name: 'a', cluster: { server: address } }] },
      says: /^The server address of context "a" of \S+ is not an https:\/\/ or http:\/\/ URL\.$/,
    })),
  ])('$name', ({ content, says }) => {
    const directory = temporaryDirectory()
    const error = thrownBy(() => discoverKubeConfig({ kubeconfig: directory.write('config', content) }))
    expect(error).toMatchObject({ code: 'KubeconfigInvalid', exit: 1, hint: expect.stringMatching(/\w/) })
    expect(error.message).toMatch(says)
    expect(`${error.message}${error.hint}`).not.toMatch(/secret|\n/)
  })

  it('names a missing file, also as part of KUBECONFIG alone', () => {
    expect(thrownBy(() => discoverKubeConfig({ kubeconfig: '/nonexistent/config' }))).toMatchObject({
      code: 'NoKubeconfig',
      message: 'The kubeconfig /nonexistent/config does not exist.',
    })
    expect(thrownBy(() => discoverKubeConfig({ env: { KUBECONFIG: '/nonexistent/a:/nonexistent/b' } })).code).toBe(
      'NoKubeconfig',
    )
  })
})
