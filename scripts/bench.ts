/**
 * Measures volctl's speed against its demands, as ratios of whole processes that run alternately, medians of rounds, with the
 * packaged executable: `npm run bench [-- NAME...]`, by the names below. Exits with 1 if a demand is missed. What it
 * prints is the table of docs/dev/speed.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Row } from './bench/measure.ts'
import { clusterRows, explainRows, planMountsRows, planPodsRows, startRows, unmountRows } from './bench/rows.ts'
import { thisArch } from './package/debian-libraries.ts'
import { makeExecutable } from './package/executable.ts'

/** @param directory of its own; all but the first make mounts */
const ROWS: Readonly<Record<string, (directory: string, volctl: string) => Promise<Row[]>>> = {
  start: startRows,
  'plan-pods': planPodsRows,
  'plan-mounts': planMountsRows,
  unmount: unmountRows,
  explain: explainRows,
  cluster: clusterRows,
}
const root = join(import.meta.dirname, '..')
const HEAD = `| what / against what | at most | measured | medians | |
|---|---|---|---|---|`

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const when = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const load = `load ${loadavg()[0]?.toFixed(1)}`
  return `${when} UTC; ${availableParallelism()} CPUs (${model}), ${memory}; Linux ${release()}; Node.js ${process.versions.node}; ${load}`
}

/** As the table of docs/dev/speed.md has it. */
function line({ name, peer, atMost, measured }: Row): string {
  const [median, least, most] = [measured.median, measured.least, measured.most].map((value) => value.toFixed(2))
  const medians = `${measured.subject.toFixed(0)} / ${measured.peer.toFixed(0)} ${measured.unit}, ${measured.rounds} rounds`
  const met = measured.median <= atMost ? 'met' : 'MISSED'
  return `| ${name} / ${peer} | ${atMost} | ${median} (${least} to ${most}) | ${medians} | ${met} |`
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !(name in ROWS))
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
console.log(`${about}\n\n${HEAD}`)
const volctl = join(temporary, 'volctl')
// The build that looks at the bench's node.
await makeExecutable(thisArch(), join(root, 'dist-tests', 'dist'), volctl)
const lines: string[] = []
for (const [name, measure] of Object.entries(ROWS)) {
  if (names.length > 0 && !names.includes(name)) continue
  const directory = join(temporary, name)
  mkdirSync(directory)
  for (const row of await measure(directory, volctl)) {
    lines.push(line(row))
    console.log(line(row))
  }
}
process.exitCode = lines.some((each) => each.includes('MISSED')) ? 1 : 0
