/**
 * Measures volctl's speed against its demands, as ratios of whole processes that run alternately, medians of the ratios of
 * pairs: `npm run bench [ROW]...`, rows by the names below. Exits with 1 if a row misses its demand; a row that cannot run
 * here says why. Milliseconds are for orientation only.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Result, renderRow, verdict } from './bench/row.ts'
import { explainPodRows } from './bench/rows/explain-pod.ts'
import { planMountsRows } from './bench/rows/plan-mounts.ts'
import { planPodsRows } from './bench/rows/plan-pods.ts'
import { startupRows } from './bench/rows/startup.ts'
import { unmountRows } from './bench/rows/unmount.ts'

const ROWS: Readonly<Record<string, (directory: (name: string) => string) => Promise<Result[]>>> = {
  startup: startupRows,
  'plan-mounts': planMountsRows,
  unmount: unmountRows,
  'plan-pods': planPodsRows,
  'explain-pod': explainPodRows,
}
/** Rows that make mounts. */
const NEED_NAMESPACE = new Set(['plan-mounts', 'unmount', 'plan-pods', 'explain-pod'])

const wanted = process.argv.slice(2)
console.log(
  `Node.js ${process.versions.node}, Linux ${release()}, ${availableParallelism()} CPUs, load ${loadavg()[0]?.toFixed(1)}\n`,
)
const unknown = wanted.find((name) => !(name in ROWS))
if (unknown !== undefined) {
  console.error(`bench: there is no row ${unknown}, only ${Object.keys(ROWS).join(', ')}.`)
  process.exit(1)
}
const temporary = mkdtempSync(join(tmpdir(), 'volctl-bench-'))
// Every mount is in a namespace that ends with this process: only plain files can be left here.
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const namespaces = spawnSync('unshare', ['-m', '--propagation', 'private', 'true']).status === 0
const count = { pass: 0, FAIL: 0, 'not run': 0 }
for (const [name, measure] of Object.entries(ROWS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  if (NEED_NAMESPACE.has(name) && !namespaces) {
    console.log(`not run: ${name}: needs root and mount namespaces\n`)
    count['not run']++
    continue
  }
  const results = await measure((part) => {
    const directory = join(temporary, part)
    mkdirSync(directory, { recursive: true })
    return directory
  })
  for (const result of results) {
    console.log(renderRow(result))
    count[verdict(result)]++
  }
}
console.log(`${count.pass} demands met, ${count.FAIL} not met, ${count['not run']} not run.`)
process.exitCode = count.FAIL === 0 ? 0 : 1
