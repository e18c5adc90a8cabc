/**
 * Shows what two checkouts answer differently: about all captures, random nodes and random clusters, through plan, status, explain of
 * every object, and the plan after an apply that is simulated.
 *
 *   node scripts/compare.ts BEFORE AFTER [SNAPSHOT...]
 *
 * Prints the lines that differ, those of most answers first, and names the directory with all answers, for diff(1). The exit status is 1
 * where something differs. The helpers of the checkout that it runs in make nodes and clusters; COMPARE_NODES, COMPARE_CLUSTERS: how many.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { writeClusterSnapshot } from '../src/core/cluster/read/cluster-snapshot.ts'
import { readSnapshot, writeSnapshot } from '../src/core/plan/documents/snapshot-file.ts'
import type { Plan } from '../src/core/plan/plan.ts'
import type { NodeSnapshot } from '../src/core/volumes/snapshot.ts'
import { anyCluster, healthyCluster } from '../test/helpers/random-cluster.ts'
import { randomFrom } from '../test/helpers/random-from.ts'
import { buildNode, randomNode } from '../test/helpers/random-node.ts'
import { SimulatedNode } from '../test/helpers/simulated-node.ts'

const SEED = 1136
const FIXTURES = resolve(import.meta.dirname, '..', 'test', 'fixtures')
const { COMPARE_NODES = '300', COMPARE_CLUSTERS = '100' } = process.env

/** Runs command lines of a checkout's source in this process, which loads it once, and returns what they print. */
async function commandLine(checkout: string): Promise<(...args: readonly string[]) => Promise<string>> {
  const manifest = await (await import(join(checkout, 'scripts', 'manifest.ts'))).commandManifest()
  const { main } = await import(join(checkout, 'src', 'main.ts'))
  const { PROCESS } = await import(join(checkout, 'src', 'core', 'trust', 'run.ts'))
  const now = Date.now()
  Date.now = () => now
  Object.assign(process.env, { VOLCTL_DISABLE_THEME: '1', NO_COLOR: '1', TZ: 'UTC' })
  let text = ''
  const write = (piece: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    text += String(piece)
    for (const done of rest) if (typeof done === 'function') done()
    return true
  }
  for (const stream of [process.stdout, process.stderr]) Object.assign(stream.setMaxListeners(0), { write })
  return async (...args) => {
    text = ''
    const status = await main(args, PROCESS, { manifest, root: checkout, script: undefined })
    return `${text.replaceAll(/^\[[^\]]*s\] /gm, '')}exit ${status}\n`
  }
}

/** Writes what a checkout answers about each snapshot into a folder, a file for each command line. */
async function answer(checkout: string, folder: string, files: readonly string[]): Promise<void> {
  const volctl = await commandLine(checkout)
  for (const [index, file] of files.entries()) {
    const ask = async (args: readonly string[], snapshot = file, name = args.join(' ')): Promise<string> => {
      const text = await volctl(...args, '--snapshot', snapshot)
      const to = join(folder, `${index} ${file.slice(-24)} ${name}`.replaceAll('/', ' '))
      writeFileSync(to, text.replaceAll(folder, ''))
      return text
    }
    const scope = file.endsWith('.jsonl') ? ['--cluster'] : []
    for (const form of [[], ['-v'], ['-o', 'json']]) await ask(['plan', ...scope, ...form])
    if (scope.length > 0) continue
    await ask(['status'])
    const state = await readSnapshot(file)
    for (const name of objects(state.snapshot)) await ask(['explain', name])
    await ask(['plan', '--orphans', '-v'])
    const json = await ask(['plan', '--orphans', '-o', 'json'])
    if (!json.startsWith('{')) continue
    const node = new SimulatedNode(state)
    const { operations }: Plan = JSON.parse(json.slice(0, json.lastIndexOf('}') + 1))
    let failed = 0
    for (const operation of operations.filter(({ blocked }) => blocked === undefined)) {
      try {
        node.carryOut(operation)
      } catch {
        failed++
      }
    }
    const end = `${folder}.json`
    writeSnapshot(node.state().snapshot, end)
    await ask(['plan', '--orphans', '-v'], end, `after apply, ${failed} operations not simulated`)
  }
}

function objects({ api, tree = [] }: NodeSnapshot): Set<string> {
  const pods = (api?.pods ?? []).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  const directories = tree.flatMap(({ path }) => (/^pods\/[^/]+$/.test(path) ? [path.slice(5)] : []))
  const volumes = (api?.persistentVolumes ?? []).map(({ metadata }) => `pv/${metadata.name}`)
  return new Set([...pods, ...directories, ...volumes])
}

/** The captures, and what is made at random below a directory. */
function snapshots(made: string): string[] {
  for (const [n, random] of fc.sample(randomNode, { numRuns: Number(COMPARE_NODES), seed: SEED }).entries())
    writeSnapshot(buildNode(random).snapshot, join(made, `node-${n}.json`))
  for (let n = 0; n < Number(COMPARE_CLUSTERS); n++) {
    const random = randomFrom(SEED + n)
    writeClusterSnapshot(n % 10 === 0 ? healthyCluster(random) : anyCluster(random), join(made, `cluster-${n}.jsonl`))
  }
  return ['captures', 'clusters', made]
    .map((name) => resolve(FIXTURES, name))
    .flatMap((at) => readdirSync(at, { recursive: true, encoding: 'utf8' }).map((name) => join(at, name)))
    .filter((name) => /\.jsonl?$/.test(name) && !name.endsWith('kubelet.json'))
}

/** The lines that one of two texts alone has. */
function differences(before: string, after: string): string {
  const only = (mark: string, one: string, other: string): string[] =>
    one.split('\n').flatMap((line) => (other.split('\n').includes(line) ? [] : [`${mark} ${line}`]))
  return [...only('-', before, after), ...only('+', after, before)].join('\n') || '(the order of lines)'
}

const [before = '', after = '', ...more] = process.argv.slice(2)
if (before === '--answer') {
  const [folder = '', list = ''] = more
  await answer(after, folder, readFileSync(list, 'utf8').split('\n'))
  process.exit(0)
}
const out = mkdtempSync(join(tmpdir(), 'compare-'))
const [one = '', other = '', made = ''] = ['before', 'after', 'made'].map((name) =>
  mkdirSync(join(out, name), { recursive: true }),
)
const files = [...snapshots(made), ...more.map((file) => resolve(file))]
writeFileSync(join(out, 'snapshots'), files.join('\n'))
const ask = async (checkout: string, folder: string): Promise<void> => {
  const args = [import.meta.filename, '--answer', resolve(checkout), folder, join(out, 'snapshots')]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  if ((await new Promise((done) => child.on('exit', done))) !== 0) throw new Error(`${checkout} did not answer`)
}
await Promise.all([ask(before, one), ask(after, other)])
const text = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8')
const names = readdirSync(one).filter((name) => readdirSync(other).includes(name))
const differing = names.filter((name) => text(one, name) !== text(other, name))
const kinds = Object.entries(
  Object.groupBy(differing, (name) =>
    differences(text(one, name), text(other, name)).replaceAll(/[0-9a-f]{6,}(?:-[0-9a-f]+)*|\d+/g, '#'),
  ),
).toSorted(([, a = []], [, b = []]) => b.length - a.length)
for (const [kind, of = []] of kinds) console.log(`${of.length} of this kind, the first: ${of[0]}\n${kind}\n`)
console.log(`${files.length} snapshots, ${names.length} answers, ${differing.length} differ; all are in ${out}`)
process.exitCode = differing.length === 0 ? 0 : 1
