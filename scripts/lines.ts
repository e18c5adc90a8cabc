/**
 * How much of a file of log lines volctl knows, and as what.
 *
 *   node scripts/lines.ts FILE [--unknown | --all]
 *
 * FILE is a log; or a table with tabs whose head names a column `line` (one line each) or `format` and `kind` (format strings of a
 * program's source, whose verbs are filled in). Prints the share that is known, by kind; `--unknown` also the others, `--all` each
 * line with the sentence it is known by.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseLine } from '../src/core/log-lines/parse-line.ts'
import { sentencesIn } from '../src/core/log-lines/sentences/sentences.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { unknown: { type: 'boolean' }, all: { type: 'boolean' } },
})
const [file] = positionals
if (file === undefined) throw new Error('lines: name a file')

interface Row {
  readonly kind: string
  readonly line: string
}

const VERBS: Readonly<Record<string, string>> = { q: '"name-1"', d: '3', w: 'x', T: 'string', c: 'x' }
/** What the volume code of Kubernetes puts around a message. */
const MADE: Readonly<Record<string, string>> = {
  GenerateMsg: ' for volume "pv-1" (UniqueName: "kubernetes.io/csi/disk.test^pv-1") pod "web-0" (UID: "u")',
  GenerateMsgDetailed: ' for volume "pv-1" (UniqueName: "kubernetes.io/csi/disk.test^pv-1") pod "web-0" (UID: "u")',
  GenerateError: ' for volume "pv-1" : x',
  GenerateErrorDetailed:
    ' for volume "pv-1" (UniqueName: "kubernetes.io/csi/disk.test^pv-1") pod "web-0" (UID: "u") : x',
}

function filled(format: string): string {
  return format
    .replaceAll(/\{(Generate\w+)\}/g, (whole, name: string) => MADE[name] ?? whole)
    .replaceAll(/%[-+#]*(\w)/g, (_, verb: string) => VERBS[verb] ?? 'x')
    .replaceAll('\\n', '\n')
}

function rows(text: string): Row[] {
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '')
  const columns = head.split('\t')
  const of = (name: string, cells: readonly string[]): string => cells[columns.indexOf(name)] ?? ''
  if (columns.includes('format'))
    return lines.map((each) => {
      const cells = each.split('\t')
      const format = of('format', cells)
      // Nothing but another error's text: there is nothing to know it by.
      const kind = /^(?:[%<][^ ]*[:%\w>]*\s?)+$/.test(format) ? `${of('kind', cells)} without words` : of('kind', cells)
      return { kind, line: filled(format) }
    })
  if (columns.includes('line')) return lines.map((each) => ({ kind: 'line', line: of('line', each.split('\t')) }))
  return [head, ...lines].map((line) => ({ kind: 'line', line }))
}

const counts = new Map<string, { all: number; known: number }>()
for (const { kind, line } of rows(readFileSync(file, 'utf8'))) {
  const [name] = sentencesIn(parseLine(line))
  const count = counts.get(kind) ?? { all: 0, known: 0 }
  counts.set(kind, { all: count.all + 1, known: count.known + (name === undefined ? 0 : 1) })
  if (values.all || (values.unknown && name === undefined)) console.log(`${name ?? 'unknown'}\t${kind}\t${line}`)
}
for (const [kind, { all, known }] of counts)
  console.log(`${kind}: ${known} of ${all} known, ${((100 * known) / all).toFixed(1)} %`)
