/**
 * Draws the pictures of README and docs/tour.md from real runs: volctl in a terminal of 80 × 24, in colour.
 *
 *   npm run picture
 *
 * With `--check` only compares, and fails if one is out of date.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { terminalSvg } from './picture/terminal-svg.ts'

const root = join(import.meta.dirname, '..')
const COLUMNS = 80
/** A node with two orphaned pods; the tests use it too. */
const SNAPSHOT = 'test/fixtures/captures/stuck/before.json'
const LINE = 'orphaned pod "cf9995e3-d49e-4e5d-a313-77ee5ac278f4" found, but volume paths are still present on disk'

/** What was typed on the node, by the picture's name. */
const TYPED: Readonly<Record<string, string>> = {
  explain: `volctl explain '${LINE}'`,
  plan: 'volctl plan --orphans',
}

for (const [name, typed] of Object.entries(TYPED)) {
  // script(1) gives the run a terminal of its own.
  const run = `stty cols ${COLUMNS} rows 24 && exec ./bin/${typed} --snapshot ${SNAPSHOT}${name === 'plan' ? ' --no-pager' : ''}`
  const env = { PATH: process.env.PATH, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' }
  const { status, stdout, stderr } = spawnSync('script', ['-qec', run, '/dev/null'], {
    cwd: root,
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error(`${typed}: exit ${status}: ${stdout}${stderr}`)
  const file = join('docs', `${name}.svg`)
  const drawn = terminalSvg(`$ ${typed}\n${stdout.replaceAll('\r', '')}`, COLUMNS, typed)
  if (existsSync(join(root, file)) && readFileSync(join(root, file), 'utf8') === drawn) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is not what volctl prints: run npm run picture`)
    process.exitCode = 1
  } else {
    writeFileSync(join(root, file), drawn)
    console.log(`wrote ${file}`)
  }
}
