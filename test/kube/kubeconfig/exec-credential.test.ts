/** S33, S34: what a credential plugin is run with, how it is ended, and what is taken of its word. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { execPluginOf } from '../../../src/core/kube/kubeconfig/exec-credential.ts'
import { discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'
import type { ConnectionOptions } from '../../../src/core/kube/transport/connection.ts'
import { TRUST_HINT } from '../../../src/core/trust/files.ts'
import { PROGRAM_DIRECTORIES, PROGRAM_ENVIRONMENT } from '../../../src/core/trust/run.ts'
import { kubeconfigText } from '../../helpers/api-server/users.ts'
import { type Directory, failureOf, temporaryDirectory, thrownBy } from '../connect.ts'

const VERSION = 'client.authentication.k8s.io/v1'
const PEM = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n'

let directory: Directory
beforeEach(() => {
  directory = temporaryDirectory()
})
afterEach(() => vi.unstubAllEnvs())

/** A container may run as a user that no file names. */
function homeDirectory(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

function credential(status: object, fields: object = {}): string {
  return JSON.stringify({ kind: 'ExecCredential', apiVersion: VERSION, status, ...fields })
}

interface Settings {
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
  readonly cluster?: object
}

/** What a kubeconfig with this plugin comes to. */
function load(exec: object, { deadlineMs = 20_000, signal, cluster = {} }: Settings = {}): Promise<ConnectionOptions> {
  const user = { exec: { apiVersion: VERSION, ...exec } }
  const kubeconfig = directory.write('kube/config', kubeconfigText({ server: 'https://c.example', ...cluster }, user))
  return discoverKubeConfig({ kubeconfig, pluginDeadlineMs: deadlineMs }).load(signal)
}

function script(text: string, name = 'kube/plugin'): string {
  return directory.write(name, `#!/bin/sh\n${text}\n`, 0o700)
}

/** A program that prints this and nothing else. */
const prints = (text: string): object => ({ command: 'printf', args: ['%s', text] })

const file = (name: string): string => join(directory.path, name)

async function gone(pidFile: string): Promise<void> {
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await expect.poll(() => existsSync(`/proc/${pid}/exe`)).toBe(false)
}

describe('what it gives', () => {
  it.each([
    { name: 'a text', output: '"wrong-secret"', says: /not an ExecCredential/ },
    { name: 'no status', output: '{"kind":"ExecCredential","token":"wrong-secret"}', says: /not an ExecCredential/ },
    {
      name: 'another version',
      output: credential({ token: 'wrong-secret' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      says: /does not have the requested version/,
    },
    {
      name: 'a certificate without its key',
      output: credential({ clientCertificateData: PEM }),
      says: /neither a token nor/,
    },
    { name: 'a token that is no text', output: credential({ token: { a: 1 } }), says: /neither a token nor/ },
  ])('$name is no credential, and none of it is shown', async ({ output, says }) => {
    const error = await failureOf(load(prints(output)))
    expect(error).toMatchObject({ code: 'CredentialFailed', exit: 1, hint: expect.stringMatching(/\w/) })
    expect(error.message).toMatch(/^The credential plugin printf gave no credential: /)
    expect(error.message).toMatch(says)
    expect(`${error.message}${error.hint}`).not.toMatch(/wrong-secret|\n/)
  })

  it('a token that would break the header is no token', async () => {
    const error = await failureOf(load(prints(credential({ token: 'a\r\nX-Other: b' }))))
    expect(error).toMatchObject({ code: 'KubeconfigInvalid', hint: 'Its token is not valid.' })
  })

  it.each([
    { name: 'more than a MiB', padding: `"${'x'.repeat(1_100_000)}"` },
    { name: 'of more values than any', padding: `[${'0,'.repeat(2000)}0]` },
  ])('$name: no credential, though there is one in it', async ({ padding }) => {
    const answer = directory.write('answer', credential({ token: 't' }).replace('}}', `},"more":${padding}}`))
    script(`exec cat ${answer}`)
    expect((await failureOf(load({ command: './plugin' }))).message).toMatch(/not an ExecCredential/)
  })
})

describe('how it is ended', () => {
  it('at its deadline, with all that it has started', async () => {
    script(`echo $$ > ${file('pid')}; sleep 1000 & echo $! > ${file('child')}; wait`)
    const error = await failureOf(load({ command: './plugin' }, { deadlineMs: 2000 }))
    expect(error).toMatchObject({ code: 'CredentialFailed', message: expect.stringMatching(/[Cc]redential plugin/) })
    expect(error.message).toMatch(/no answer within 2 s\.$/)
    await gone(file('pid'))
    await gone(file('child'))
  })

  it('when it prints without end', async () => {
    script(`echo $$ > ${file('pid')}; exec yes wrong-secret`)
    const error = await failureOf(load({ command: './plugin' }))
    expect(error.message).toMatch(/too much output/)
    expect(error.message).not.toContain('wrong-secret')
    await gone(file('pid'))
  })

  it('when the person interrupts', async () => {
    script(`echo $$ > ${file('pid')}; exec sleep 1000`)
    const controller = new AbortController()
    const work = load({ command: './plugin' }, { signal: controller.signal })
    work.catch(() => undefined)
    await expect.poll(() => existsSync(file('pid')) && readFileSync(file('pid'), 'utf8')).toMatch(/\d+\n/)
    controller.abort(new Error('interrupted'))
    await expect(work).rejects.toThrow('interrupted')
    await gone(file('pid'))
  })
})

describe('what it is run with', () => {
  it('a fixed environment, what the kubeconfig adds, and its home: nothing of the caller', async () => {
    vi.stubEnv('LD_PRELOAD_OF_CALLER', 'x')
    vi.stubEnv('HOME', '/home/caller')
    vi.stubEnv('PATH', `${directory.path}:${process.env.PATH}`)
    script(`env -0 > ${file('env')}; printf %s '${credential({ token: 't' })}'`)
    await load({
      command: './plugin',
      env: [
        { name: 'AWS_PROFILE', value: 'a=b' },
        { name: 'LC_ALL', value: 'de' },
      ],
    })
    const entries = readFileSync(file('env'), 'utf8').split('\0').filter(Boolean)
    const env = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)))
    const info = { apiVersion: VERSION, kind: 'ExecCredential', spec: { interactive: false } }
    // The shell's own.
    const { PWD, SHLVL, _, OLDPWD, ...rest } = env
    expect(rest).toEqual({
      ...PROGRAM_ENVIRONMENT,
      LC_ALL: 'de',
      HOME: homeDirectory(),
      AWS_PROFILE: 'a=b',
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    })
  })

  it('the cluster, in the form of an ExecCredential, where it asks for that', async () => {
    directory.write('kube/ca.crt', PEM)
    script(`printf %s "$KUBERNETES_EXEC_INFO" > ${file('info')}; printf %s '${credential({ token: 't' })}'`)
    const cluster = {
      'certificate-authority': 'ca.crt',
      'tls-server-name': 'n',
      extensions: [
        { name: 'other', extension: 1 },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } },
      ],
    }
    await load({ command: './plugin', provideClusterInfo: true }, { cluster })
    expect(JSON.parse(readFileSync(file('info'), 'utf8')).spec).toEqual({
      interactive: false,
      cluster: {
        server: 'https://c.example',
        'tls-server-name': 'n',
        'certificate-authority-data': Buffer.from(PEM).toString('base64'),
        config: { audience: 'a' },
      },
    })
  })
})

describe('which program it is', () => {
  it('a name is looked for where programs are, never on the PATH of the caller', async () => {
    const ran = file('ran')
    directory.write('bin/kube-plugin-of-nobody', `#!/bin/sh\ntouch ${ran}\n`, 0o755)
    directory.write('bin/printf', `#!/bin/sh\ntouch ${ran}\n`, 0o755)
    vi.stubEnv('PATH', `${file('bin')}:${process.env.PATH}`)
    const error = await failureOf(load({ command: 'kube-plugin-of-nobody' }))
    expect(error).toMatchObject({ code: 'CredentialFailed', hint: expect.stringContaining('absolute path') })
    expect(error.message).toMatch(/gave no credential: not found/)
    expect((await load(prints(credential({ token: 't' })))).headers).toEqual({ Authorization: 'Bearer t' })
    expect(existsSync(ran)).toBe(false)
    expect(PROGRAM_DIRECTORIES).toContain('/usr/bin')
  })

  it('one that others may write is not run', async () => {
    const ran = file('ran')
    const command = script(`touch ${ran}; printf %s '${credential({ token: 't' })}'`, 'bin/plugin')
    chmodSync(command, 0o770)
    const error = await failureOf(load({ command }))
    expect(error).toMatchObject({ code: 'CredentialFailed', hint: TRUST_HINT })
    expect(error.message).toMatch(/can be written by others/)
    expect(existsSync(ran)).toBe(false)
  })

  it('a plugin of a version that kubectl dropped, or without a command, is an error at once', () => {
    expect(
      thrownBy(() => execPluginOf({ command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' })),
    ).toMatchObject({
      code: 'CredentialFailed',
      message: expect.stringContaining('v1alpha1'),
    })
    expect(thrownBy(() => execPluginOf({})).message).toMatch(/has no command/)
  })
})
