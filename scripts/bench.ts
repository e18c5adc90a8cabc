/**
 * Measures volctl's speed against its demands, as ratios of whole processes that run alternately, medians of rounds, with the
 * packaged executable and the npm package: `npm run bench [-- ROW...]`, rows by the names below. Exits with 1 if the executable
 * misses a demand; a row that cannot run here says why. With --write, the tables in docs/dev/speed.md whose rows were all run are
 * replaced.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { makePrograms, type Programs } from './bench/programs.ts'
import { markdownTable, type Result, renderRow, verdict } from './bench/row.ts'
import { clusterRows } from './bench/rows/cluster.ts'
import { deadMountsRows } from './bench/rows/dead-mounts.ts'
import { explainPodRows } from './bench/rows/explain-pod.ts'
import { holdersRows } from './bench/rows/holders.ts'
import { kubeletTreeRows } from './bench/rows/kubelet-tree.ts'
import { planMountsRows } from './bench/rows/plan-mounts.ts'
import { planPodsRows } from './bench/rows/plan-pods.ts'
import { startupRows } from './bench/rows/startup.ts'
import { unmountRows } from './bench/rows/unmount.ts'

/** All but the first make mounts. */
const ROWS: Readonly<Record<string, (programs: Programs) => Promise<Result[]>>> = {
  startup: startupRows,
  'plan-pods': planPodsRows,
  'plan-mounts': planMountsRows,
  unmount: unmountRows,
  holders: holdersRows,
  'kubelet-tree': kubeletTreeRows,
  'dead-mounts': deadMountsRows,
  'explain-pod': explainPodRows,
  cluster: clusterRows,
}
const SPEED = join(import.meta.dirname, '..', 'docs', 'dev', 'speed.md')
/** The cluster's rows take longer than all others together. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  bench: Object.keys(ROWS).filter((name) => name !== 'cluster'),
  'bench cluster': ['cluster'],
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const when = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const load = `load ${loadavg()[0]?.toFixed(1)}`
  return `${when} UTC; ${availableParallelism()} CPUs (${model}), ${memory}; Linux ${release()}; Node.js ${process.versions.node}; ${load}`
}

async function measureAll(names: readonly string[], programs: Programs): Promise<Map<string, readonly Result[]>> {
  const results = new Map<string, readonly Result[]>()
  for (const name of names) {
    const started = performance.now()
    const rows = (await ROWS[name]?.(programs)) ?? []
    for (const row of rows) console.log(renderRow(row))
    console.error(`(${name}: ${((performance.now() - started) / 1000).toFixed(0)} s)`)
    results.set(name, rows)
  }
  return results
}

const wanted = process.argv.slice(2).filter((name) => name !== '--write')
const unknown = wanted.find((name) => !(name in ROWS))
if (unknown !== undefined) {
  console.error(`bench: there is no row ${unknown}, only ${Object.keys(ROWS).join(', ')}.`)
  process.exit(1)
}
if (spawnSync('unshare', ['-m', '--propagation', 'private', 'true']).status !== 0) {
  console.error('bench: needs root and mount namespaces.')
  process.exit(1)
}
const temporary = mkdtempSync(join(tmpdir(), 'volctl-bench-'))
// Every mount is in a namespace that ends with this process: only plain files can be left here.
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const about = machine()
console.log(`${about}\n`)
const programs = await makePrograms((name) => {
  const directory = join(temporary, name)
  mkdirSync(directory, { recursive: true })
  return directory
})
const results = await measureAll(wanted.length === 0 ? Object.keys(ROWS) : wanted, programs)
const verdicts = [...results.values()].flat().map(verdict)
const count = (which: ReturnType<typeof verdict>): number => verdicts.filter((each) => each === which).length
console.log(`${count('met')} demands met, ${count('MISSED')} missed, ${count('not run')} not run.`)
if (process.argv.includes('--write')) writeTables(results)
process.exitCode = count('MISSED') === 0 ? 0 : 1

function writeTables(found: ReadonlyMap<string, readonly Result[]>): void {
  let page = readFileSync(SPEED, 'utf8')
  for (const [table, names] of Object.entries(TABLES)) {
    if (!names.every((name) => found.has(name))) continue
    const rows = names.flatMap((name) => found.get(name) ?? [])
    const between = new RegExp(`(<!-- ${table} -->\\n).*(<!-- /${table} -->)`, 's')
    page = page.replace(between, (_, from: string, to: string) => `${from}${about}\n\n${markdownTable(rows)}\n${to}`)
  }
  writeFileSync(SPEED, page)
}
