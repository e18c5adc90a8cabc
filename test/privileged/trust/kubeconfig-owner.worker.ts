/** Kubeconfigs, and what they name, that somebody else than root could have written; and those that were only found. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { load } from 'js-yaml'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { execKubeconfig, kubeconfigText } from './kubeconfigs.ts'
import { essence, type TrustNode, withNode, writeUnit } from './node.ts'
import { foreignDirectory, givenAway, STRANGER } from './strangers.ts'
import { codeOf, oneLine, type WatchedRun } from './watched-run.ts'

export interface Answer {
  readonly status: number | undefined
  readonly ended: WatchedRun['ended']
  readonly said: string
  readonly code: string | undefined
  readonly ran: string
}

interface AdminConfig {
  readonly clusters: readonly { readonly cluster: { readonly 'certificate-authority-data': string } }[]
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  }[]
}

/** What an administrator's kubeconfig holds, in files of their own beside it. */
interface Files {
  readonly kubeconfig: string
  readonly ca: string
  readonly certificate: string
  readonly key: string
  readonly token: string
  readonly plugin: string
}

/** A directory of root's with a kubeconfig of each kind; the plugin gives what the API takes. */
function lay(node: TrustNode, kind: 'exec' | 'certificate' | 'token'): Files {
  const directory = `${node.directory}/given`
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  const { clusters, users } = load(readFileSync(node.api.kubeconfig('admin'), 'utf8')) as AdminConfig
  const [{ cluster } = {}, { user } = {}] = [clusters[0], users[0]]
  const pem = (text = ''): string => Buffer.from(text, 'base64').toString()
  const files = {
    kubeconfig: `${directory}/config`,
    ca: `${directory}/ca.crt`,
    certificate: `${directory}/client.crt`,
    key: `${directory}/client.key`,
    token: `${directory}/token`,
    plugin: `${directory}/plugin`,
  }
  const [certificate, key] = [pem(user?.['client-certificate-data']), pem(user?.['client-key-data'])]
  const write = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o600 })
  write(files.ca, pem(cluster?.['certificate-authority-data']))
  write(files.certificate, certificate)
  write(files.key, key)
  write(files.token, TOKEN)
  const status = { clientCertificateData: certificate, clientKeyData: key }
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
  write(`${directory}/credential`, JSON.stringify(credential))
  node.marker.program(files.plugin, `cat ${directory}/credential`)
  const authority = { 'certificate-authority': files.ca }
  const server = node.api.url
  const certificates = { 'client-certificate': files.certificate, 'client-key': files.key }
  const named = kind === 'token' ? { tokenFile: files.token } : certificates
  write(
    files.kubeconfig,
    kind === 'exec'
      ? execKubeconfig(server, files.plugin, authority)
      : kubeconfigText({ server, cluster: authority, user: named }),
  )
  return files
}

const TOKEN = 'a-token-of-nobody'

/** What others may do to a file of root's. @returns the path by which it is named then */
const TRICKS: Readonly<Record<string, (path: string) => string>> = {
  "another user's": (path) => givenAway(path),
  'for a group to write': (path) => {
    chownSync(path, 0, STRANGER)
    chmodSync(path, 0o770)
    return path
  },
  'for all to write': (path) => {
    chmodSync(path, 0o777)
    return path
  },
  "in another user's directory": (path) => {
    const directory = foreignDirectory(`${path}.d`)
    renameSync(path, `${directory}/it`)
    return `${directory}/it`
  },
  'in a directory for all to write': (path) => {
    mkdirSync(`${path}.d`)
    renameSync(path, `${path}.d/it`)
    chmodSync(`${path}.d`, 0o777)
    return `${path}.d/it`
  },
  "below another user's directory": (path) => {
    mkdirSync(`${foreignDirectory(`${path}.d`)}/roots`)
    renameSync(path, `${path}.d/roots/it`)
    return `${path}.d/roots/it`
  },
  "by another user's link": (path) => {
    const directory = foreignDirectory(`${path}.d`)
    symlinkSync(path, `${directory}/it`)
    return givenAway(`${directory}/it`)
  },
  "by another user's link, in a directory for all": (path) => {
    mkdirSync(`${path}.d`)
    chmodSync(`${path}.d`, 0o1777)
    symlinkSync(path, `${path}.d/it`)
    return givenAway(`${path}.d/it`)
  },
  'a FIFO': (path) => {
    rmSync(path)
    sh('mkfifo', '-m', '600', path)
    return path
  },
}

async function answer(node: TrustNode, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Answer> {
  const run = await node.volctl(['plan', '-o', 'json', ...args], { env, deadlineMs: 20_000 })
  const ran = node.marker.read()
  writeFileSync(node.marker.path, '')
  return { status: run.status, ended: run.ended, said: oneLine(run), code: codeOf(run), ran }
}

await runScenario({
  given: (directory) =>
    withNode(directory, {}, async (node) => {
      const found: Record<string, Answer> = {}
      for (const [trick, play] of Object.entries(TRICKS)) {
        const path = play(lay(node, 'exec').kubeconfig)
        found[`--kubeconfig ${trick}`] = await answer(node, ['--kubeconfig', path])
        found[`KUBECONFIG ${trick}`] = await answer(node, [], { KUBECONFIG: path })
      }
      return { control: await answer(node, ['--kubeconfig', lay(node, 'exec').kubeconfig]), found }
    }),

  /** The kubeconfig is root's; what it names is not. */
  named: (directory) =>
    withNode(directory, {}, async (node) => {
      const found: Record<string, Answer> = {}
      const controls: Record<string, Answer> = {}
      const named = {
        plugin: 'exec',
        ca: 'certificate',
        certificate: 'certificate',
        key: 'certificate',
        token: 'token',
      }
      for (const [part, kind] of Object.entries(named) as [keyof Files, 'exec' | 'certificate' | 'token'][]) {
        controls[part] = await answer(node, ['--kubeconfig', lay(node, kind).kubeconfig])
        for (const [trick, play] of Object.entries(TRICKS)) {
          const files = lay(node, kind)
          const path = play(files[part])
          const text = readFileSync(files.kubeconfig, 'utf8').replaceAll(`"${files[part]}"`, `"${path}"`)
          writeFileSync(files.kubeconfig, text)
          found[`${part} ${trick}`] = await answer(node, ['--kubeconfig', files.kubeconfig])
        }
      }
      return { controls, found }
    }),

  /** HOME is another user's, as sudo -E and su leave it. */
  home: (directory) =>
    withNode(directory, {}, async (node) => {
      const connections: string[] = []
      const server = createServer((socket) => {
        connections.push('another server')
        socket.destroy()
      })
      await new Promise<void>((resolve) => server.listen(0, resolve))
      const { port } = server.address() as { port: number }
      const without = await node.volctl(['plan', '-o', 'json'])
      const homes: Record<string, unknown> = {}
      const place = `${directory}/people`
      const write = (home: string): string => {
        rmSync(place, { recursive: true, force: true })
        mkdirSync(`${place}/${home}/.kube`, { recursive: true })
        const path = `${place}/${home}/.kube/config`
        const plugin = node.marker.program(`${place}/${home}/plugin`)
        writeFileSync(path, execKubeconfig(`https://127.0.0.1:${port}`, plugin), { mode: 0o600 })
        return path
      }
      const kinds: Readonly<Record<string, (path: string) => unknown>> = {
        "another user's, wholly": () => sh('chown', '-R', `${STRANGER}:${STRANGER}`, `${place}/home`),
        "another user's directory": () => givenAway(`${place}/home`),
        "another user's file": (path) => givenAway(path),
        'a file for a group to write': (path) => {
          chownSync(path, 0, STRANGER)
          chmodSync(path, 0o660)
        },
        "a link of another user's": (path) => {
          copyFileSync(path, `${place}/config`)
          rmSync(path)
          symlinkSync(`${place}/config`, path)
          givenAway(path)
          givenAway(`${place}/home/.kube`)
        },
      }
      for (const [name, play] of Object.entries(kinds)) {
        const path = write('home')
        play(path)
        const env = { HOME: `${place}/home` }
        const run = await node.volctl(['plan', '-o', 'json'], { env })
        const verbose = await node.volctl(['plan', '-o', 'json', '-v'], { env })
        homes[name] = {
          same: JSON.stringify(essence(run)) === JSON.stringify(essence(without)),
          status: run.status,
          saidWhere: `${run.stderr}${verbose.stderr}`.includes(path),
          ran: node.marker.read(),
          asked: connections.splice(0),
        }
        writeFileSync(node.marker.path, '')
      }
      server.close()
      return { without: without.status, homes }
    }),

  /** Found, and root's: but nobody said that its plugin is to be run. */
  found: (directory) =>
    withNode(directory, { kubelet: 'none' }, async (node) => {
      const files = lay(node, 'exec')
      const home = `${directory}/home`
      mkdirSync(`${home}/.kube`)
      const root = ['--root-dir', node.root, '--node', 'node-1']
      const report: Record<string, Answer> = {}
      const places: Readonly<Record<string, string>> = {
        '~/.kube/config': `${home}/.kube/config`,
        '/etc/kubernetes/admin.conf': '/etc/kubernetes/admin.conf',
        '/etc/kubernetes/kubelet.conf': '/etc/kubernetes/kubelet.conf',
      }
      for (const [name, path] of Object.entries(places)) {
        copyFileSync(files.kubeconfig, path)
        report[name] = await answer(node, root)
        report[`${name}, given`] = await answer(node, [...root, '--kubeconfig', path])
        rmSync(path)
      }
      const own = `${directory}/kubelet.kubeconfig`
      copyFileSync(files.kubeconfig, own)
      const [rootDir, , name] = node.flags() as [string, string, string]
      writeUnit([rootDir, `--kubeconfig=${own}`, name])
      report["the unit's --kubeconfig"] = await answer(node, [])
      // With a credential that was given, the kubelet's is for a second look only (S2).
      report["the unit's --kubeconfig, for the second look"] = await answer(node, [
        '--kubeconfig',
        node.api.kubeconfig('admin'),
      ])
      return report
    }),
})
