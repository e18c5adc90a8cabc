/** S33: which kubeconfigs, and which files that they name, volctl takes the word of. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import {
  ADMIN_FILES,
  type DiscoverOptions,
  discoverKubeConfig,
  discoverKubeletConfig,
  type KubeConfigAttempt,
} from '../../src/core/kube/kubeconfig/kube-config.ts'
import { allDoubts, type Doubt, TRUST_HINT } from '../../src/core/trust/files.ts'
import { kubeconfigText } from '../helpers/api-server/users.ts'
import { type Directory, failureOf, temporaryDirectory, thrownBy } from './connect.ts'

const NOWHERE = { HOME: '/nonexistent' }
const isRoot = process.geteuid?.() === 0

/** Where what is looked for is. */
const hostAt = ({ path }: Directory) => ({ env: { HOME: join(path, 'home') }, hostRoot: path })

/** A kubeconfig whose server has this name. */
function config(name: string, user: object = { token: 'secret' }, cluster: object = {}): string {
  return kubeconfigText({ server: `https://${name}.example:6443`, ...cluster }, user)
}

function attemptsOf(options: DiscoverOptions): {
  readonly attempts: KubeConfigAttempt[]
  readonly options: DiscoverOptions
} {
  const attempts: KubeConfigAttempt[] = []
  return { attempts, options: { ...options, onAttempt: (attempt) => attempts.push(attempt) } }
}

const doubtOn = (path: string): Doubt | undefined => allDoubts().find(({ what }) => what === path)

/** Each way in which somebody else could have: test/trust/files.test.ts. */
describe('S33: a kubeconfig that somebody else could have written', () => {
  const spoil = (path: string): void => chmodSync(path, 0o660)
  const says = /can be written by others/

  it.each([
    { how: '--kubeconfig', given: (path: string) => ({ kubeconfig: path }) },
    { how: 'KUBECONFIG', given: (path: string) => ({ env: { KUBECONFIG: `/nonexistent:${path}` } }) },
  ])('by $how: an error', ({ given }) => {
    const directory = temporaryDirectory()
    const path = directory.write('etc/config', config('theirs'))
    spoil(path)
    const error = thrownBy(() => discoverKubeConfig(given(path)))
    expect(error).toMatchObject({ code: 'KubeconfigUnsafe', exit: 1, hint: TRUST_HINT })
    expect(error.message).toContain(`The kubeconfig ${path} is not used: `)
    expect(error.message).toMatch(says)
  })

  it("~/.kube/config: passed over for the node's, and said", () => {
    const directory = temporaryDirectory()
    const path = directory.write('home/.kube/config', config('theirs'))
    directory.write('etc/kubernetes/admin.conf', config('admin'))
    spoil(path)
    const { attempts, options } = attemptsOf(hostAt(directory))
    expect(discoverKubeConfig(options)).toMatchObject({ server: 'https://admin.example:6443' })
    expect(attempts[0]).toMatchObject({ source: path, problem: expect.stringMatching(says) })
    expect(doubtOn(path)).toMatchObject({
      why: expect.stringMatching(says),
      hint: expect.stringContaining('--kubeconfig'),
    })
  })

  it.each([
    { what: 'certificate-authority', cluster: (path: string) => ({ 'certificate-authority': path }) },
    { what: 'client-key', user: (path: string) => ({ 'client-key': path }) },
    { what: 'tokenFile', user: (path: string) => ({ tokenFile: path }) },
  ])('its $what: an error', async ({ cluster, user }) => {
    const directory = temporaryDirectory()
    const path = directory.write('pki/secret', 'x')
    const kubeconfig = directory.write('config', config('x', user?.('pki/secret'), cluster?.('pki/secret')))
    spoil(path)
    const error = await failureOf(discoverKubeConfig({ kubeconfig }).load())
    expect(error).toMatchObject({ code: 'KubeconfigUnsafe', exit: 1, hint: TRUST_HINT })
    expect(error.message).toContain(`${path}, which ${kubeconfig} names, is not used: `)
    expect(error.message).toMatch(says)
  })

  it.each([
    { kind: 'a FIFO', make: (path: string) => execFileSync('mkfifo', [path]) },
    { kind: 'a directory', make: (path: string) => mkdirSync(path) },
  ])('$kind is read from nowhere, and nobody waits for it', async ({ kind, make }) => {
    const directory = temporaryDirectory()
    const path = join(directory.path, 'thing')
    make(path)
    expect(thrownBy(() => discoverKubeConfig({ kubeconfig: path }))).toMatchObject({
      code: 'KubeconfigInvalid',
      message: `The kubeconfig ${path} is ${kind}, not a file.`,
    })
    const kubeconfig = directory.write('config', config('x', { tokenFile: path }))
    const error = await failureOf(discoverKubeConfig({ kubeconfig }).load())
    expect(error).toMatchObject({ code: 'CredentialFailed', message: expect.stringMatching(/cannot be read/) })
    expect(error.message).toContain(`${path} is ${kind}`)
  })

  it("a service account's files are the kubelet's, as it mounts them: sticky, setgid, behind ..data", async () => {
    const root = temporaryDirectory()
    const account = join(root.path, 'var/run/secrets/kubernetes.io/serviceaccount')
    for (const mode of [0o1777, 0o3777]) {
      rmSync(account, { recursive: true, force: true })
      mkdirSync(join(account, '..2025_01_01'), { recursive: true })
      writeFileSync(join(account, '..2025_01_01/token'), 'secret\n', { mode: 0o640 })
      writeFileSync(join(account, '..2025_01_01/ca.crt'), 'x', { mode: 0o644 })
      chmodSync(join(account, '..2025_01_01'), mode & 0o2000 ? 0o2755 : 0o755)
      symlinkSync('..2025_01_01', join(account, '..data'))
      for (const name of ['token', 'ca.crt']) symlinkSync(`..data/${name}`, join(account, name))
      chmodSync(account, mode)
      const env = { ...NOWHERE, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
      const found = discoverKubeConfig({ env, hostRoot: root.path })
      expect((await found.load()).headers.Authorization).toBe('Bearer secret')
    }
  })
})

describe('S33: a credential that was only found starts no program for root', () => {
  const exec = { command: '/bin/echo', args: ['x'], apiVersion: 'client.authentication.k8s.io/v1' }

  function programAt(directory: Directory, place: string): { readonly path: string; readonly ran: () => boolean } {
    const marker = join(directory.path, 'ran')
    const command = directory.write('plugin', `#!/bin/sh\ntouch ${marker}\n`, 0o700)
    const path = directory.write(place, config('exec', { exec: { ...exec, command } }))
    return { path, ran: () => existsSync(marker) }
  }

  it("a plain user's own does: the program gets no more rights than the user has", async () => {
    const plain = vi.spyOn(process, 'geteuid').mockReturnValue(process.geteuid?.() || 1000)
    try {
      const directory = temporaryDirectory()
      const { ran } = programAt(directory, 'home/.kube/config')
      const found = discoverKubeConfig(hostAt(directory))
      expect(await failureOf(found.load())).toMatchObject({
        code: 'CredentialFailed',
        message: expect.stringMatching(/[Cc]redential plugin/),
      })
      expect(ran()).toBe(true)
    } finally {
      plain.mockRestore()
    }
  })

  it.for([
    { place: 'home/.kube/config', kind: "a person's own" },
    { place: ADMIN_FILES[0].slice(1), kind: "an administrator's" },
    { place: 'etc/kubernetes/kubelet.conf', kind: "the kubelet's" },
  ])('$kind: passed over, and the error says how to give it', ({ place }, { skip }) => {
    skip(!isRoot && place.startsWith('home/'), 'needs root')
    const directory = temporaryDirectory()
    const { path, ran } = programAt(directory, place)
    const { attempts, options } = attemptsOf(hostAt(directory))
    const error = thrownBy(() => discoverKubeConfig(options))
    const problem = `it is not used: it would start a program (${join(directory.path, 'plugin')}), and was not given explicitly`
    expect(attempts).toContainEqual({ source: path, problem })
    expect(error).toMatchObject({ code: 'NoKubeconfig', exit: 1 })
    expect(error.message).toContain(`${path}: ${problem}.`)
    expect(`${error.hint}`).toContain(`volctl plan --kubeconfig ${path}`)
    expect(ran()).toBe(false)
  })

  it("the kubelet's, for the second look: not made, and no other one's in its place", () => {
    const directory = temporaryDirectory()
    const { path, ran } = programAt(directory, 'own/kubelet.conf')
    directory.write('etc/kubernetes/kubelet.conf', config('stale'))
    expect(discoverKubeletConfig({ hostRoot: directory.path, kubeletKubeconfig: path })).toEqual({
      unused: {
        source: path,
        problem: expect.stringMatching(/would start a program \(.*\), and was not given explicitly$/),
      },
    })
    expect(ran()).toBe(false)
  })

  it.each([
    { name: 'gcp', says: '"gcp", which kubectl dropped in 1.26' },
    { name: 'azure', says: '"azure", which kubectl dropped in 1.26' },
    { name: 'oidc', says: '"oidc": volctl does not support it' },
  ])('an auth-provider never does: $name', ({ name, says }) => {
    const directory = temporaryDirectory()
    const user = { 'auth-provider': { name, config: { 'cmd-path': '/bin/touch', 'cmd-args': '/x' } } }
    const kubeconfig = directory.write('home/.kube/config', config('x', user))
    const error = thrownBy(() => discoverKubeConfig({ kubeconfig }))
    expect(error).toMatchObject({ code: 'KubeconfigInvalid', hint: expect.stringContaining('exec') })
    expect(error.message).toContain(says)
    expect(thrownBy(() => discoverKubeConfig(hostAt(directory))).message).toContain(`"${name}"`)
  })
})

describe('what a kubeconfig said when volctl began', () => {
  it.each([
    { name: 'another server', later: config('y') },
    { name: 'no verification', later: config('x', {}, { 'insecure-skip-tls-verify': true }) },
  ])('holds to the end: $name is an error', async ({ later }) => {
    const directory = temporaryDirectory()
    const kubeconfig = directory.write('config', config('x'))
    const found = discoverKubeConfig({ kubeconfig })
    directory.write('config', later)
    expect(await failureOf(found.load())).toMatchObject({
      code: 'OtherCluster',
      message: expect.stringMatching(/has another server/),
      exit: 1,
    })
  })

  it.each([
    { name: 'https', cluster: {}, insecure: undefined },
    { name: 'http', cluster: { server: 'http://x.example' }, insecure: 'PlainHttp' },
  ])('S34: $name is $insecure', ({ cluster, insecure }) => {
    const directory = temporaryDirectory()
    const kubeconfig = directory.write('config', config('x', {}, cluster))
    expect(discoverKubeConfig({ kubeconfig }).insecure).toBe(insecure)
  })
})
