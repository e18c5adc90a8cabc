/** hostPath volumes, whose types are checked, and which are made where their types say so. */
import { chmodSync, copyFileSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostPaths } from '../../../src/core/node/host-paths.ts'
import { commandPath } from '../../../src/core/trust/programs.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'

process.umask(0o022)
const TYPES = ['Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket', 'CharDevice', 'Nonsense']

/** One of each kind, by name. */
async function things(directory: string): Promise<() => void> {
  mkdirSync(`${directory}/dir`)
  writeFileSync(`${directory}/file`, '')
  sh('mkfifo', `${directory}/fifo`)
  symlinkSync('dir', `${directory}/link to dir`)
  symlinkSync('nowhere', `${directory}/dangling`)
  symlinkSync('/dev/null', `${directory}/char`)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${directory}/socket`, resolve))
  return () => server.close()
}

/** What apply says of a pod that wants this path with this type. */
async function verdict(directory: string, path: string, type: string): Promise<string> {
  const node = new LiveNode(directory)
  node.pod(POD, 'a', [{ name: 'v', hostPath: { path, type } }])
  const [outcome] = (await node.apply()).outcomes
  if (outcome === undefined) return 'fine'
  return `${outcome.state}${outcome.code === undefined ? '' : ` ${outcome.code}`}`
}

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

await runScenario({
  async matrix(directory) {
    const done = await things(directory)
    const fine: Record<string, string[]> = {}
    for (const type of TYPES) {
      const names = ['dir', 'file', 'fifo', 'link to dir', 'char', 'socket', 'dangling']
      const verdicts = await Promise.all(
        names.map(
          async (name) => `${name} ${await verdict(`${directory}/${type}/${name}`, `${directory}/${name}`, type)}`,
        ),
      )
      fine[type] = verdicts.filter((each) => !each.endsWith('blocked HostPathType'))
    }
    done()
    return fine
  },

  /** With everything above them; a second look finds nothing to do. */
  async made(directory) {
    const node = new LiveNode(directory)
    const dir = `${directory}/a/b`
    const file = `${directory}/a/b/ready`
    const volume = (name: string, path: string, type: string) => ({ name, hostPath: { path, type } })
    node.pod(POD, 'a', [volume('dir', dir, 'DirectoryOrCreate')])
    const [first] = (await node.apply()).outcomes
    node.forget(POD)
    node.pod(POD, 'a', [volume('dir', dir, 'DirectoryOrCreate'), volume('file', file, 'FileOrCreate')])
    const second = (await node.apply()).outcomes
    return {
      states: [first?.state, ...second.map(({ state }) => state)],
      modes: [`${directory}/a`, dir, file].map(modeOf),
      after: (await node.plan()).operations,
    }
  },

  async notMade(directory) {
    writeFileSync(`${directory}/file`, '')
    return {
      'no parent': await verdict(`${directory}/1`, `${directory}/missing/file`, 'FileOrCreate'),
      'a file above': await verdict(`${directory}/2`, `${directory}/file/dir`, 'DirectoryOrCreate'),
      'a link to nowhere': await verdict(`${directory}/3`, linkTo(directory), 'DirectoryOrCreate'),
      'a step back': await verdict(`${directory}/4`, `${directory}/../etc`, ''),
    }
  },

  /** A pod that runs was checked by its kubelet. */
  async running(directory) {
    const node = new LiveNode(directory)
    node.pod(POD, 'a', [{ name: 'v', hostPath: { path: `${directory}/gone`, type: 'Directory' } }])
    node.alive.push(POD)
    const { snapshot } = await node.look()
    return { looked: snapshot.hostPaths, operations: (await node.plan()).operations.length }
  },

  /** A claim's hostPath with mount options, which the kubelet refuses (P14). */
  async mountOptions(directory) {
    const node = new LiveNode(directory)
    node.persistentVolume('pv', { hostPath: { path: directory }, mountOptions: ['noatime'] })
    node.pod(POD, 'a', [{ name: 'v', persistentVolumeClaim: { claimName: 'claim-pv' } }])
    return (await node.apply()).outcomes.map(({ state, code }) => `${state} ${code}`)
  },

  /** A container that has the directory puts a link in the place of what was just made: nothing behind it is opened up. */
  async swapped(directory) {
    mkdirSync(`${directory}/shared`)
    writeFileSync(`${directory}/shadow`, 'secret', { mode: 0o600 })
    const touch = commandPath('touch')
    copyFileSync(touch, `${directory}/touch.real`)
    const swap = `rm -f "$2"; ln -s ${directory}/shadow "$2"`
    writeFileSync(`${directory}/touch.stand-in`, `#!/bin/sh\n${directory}/touch.real "$@"\n${swap}\n`)
    chmodSync(`${directory}/touch.stand-in`, 0o755)
    sh('mount', '--bind', `${directory}/touch.stand-in`, touch)
    const state = await verdict(directory, `${directory}/shared/file`, 'FileOrCreate')
    return {
      state,
      linked: lstatSync(`${directory}/shared/file`).isSymbolicLink(),
      mode: modeOf(`${directory}/shadow`),
    }
  },

  /** One of three paths lies on a server that is away: a stand-in for stat(1) waits for it for ever. */
  async hanging(directory) {
    mkdirSync(`${directory}/dir`)
    const stat = commandPath('stat')
    copyFileSync(stat, `${directory}/stat.real`)
    const script = `#!/bin/sh\ncase "$*" in */away*) sleep 86399;; esac\nexec ${directory}/stat.real "$@"\n`
    writeFileSync(`${directory}/stat.stand-in`, script)
    chmodSync(`${directory}/stat.stand-in`, 0o755)
    sh('mount', '--bind', `${directory}/stat.stand-in`, stat)
    const node = new LiveNode(directory)
    const paths = ['away', 'dir', 'missing']
    node.pod(
      POD,
      'a',
      paths.map((name) => ({ name, hostPath: { path: `${directory}/${name}`, type: 'Directory' } })),
    )
    const found = await hostPaths(node.api(), () => false, 300)
    return found.map(({ path, type, error }) => [path.slice(directory.length), type ?? error])
  },
})

function linkTo(directory: string): string {
  symlinkSync('nowhere', `${directory}/dangling`)
  return `${directory}/dangling`
}
