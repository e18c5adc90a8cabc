/** Every command that a screen of a snapshot prints is accepted where it is printed: it is run on the snapshot, or typed on its node. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CAPTURES, CLUSTERS, captureFiles } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { chunksOf } from '../helpers/screens.ts'

/** Rows of a capture that are alike say nothing new. */
const EXPLAINED = 6

/** volctl's own commands of a text, each with the line that it stands in. */
function commandsIn(text: string): { readonly words: readonly string[]; readonly line: string }[] {
  return text.split('\n').flatMap((line) =>
    chunksOf(line.trim().replace(/ +# .*/, ''))
      .filter(({ isCommand, text: chunk }) => isCommand && /^\(?volctl /.test(chunk))
      .map(({ text: chunk }) => ({
        line,
        words: chunk
          .replace(/^\(|[).,;:]*$/g, '')
          .split(' ')
          .slice(1),
      })),
  )
}

async function refused(stdout: string): Promise<string[]> {
  const bad: string[] = []
  const seen = new Set<string>()
  for (const { words, line } of commandsIn(stdout)) {
    const command = words.join(' ')
    if (seen.has(command)) continue
    seen.add(command)
    const isOfCode = words[0] === 'explain' && /^[A-Z][A-Za-z]+$/.test(words[1] ?? '')
    if (!words.includes('--snapshot') && !isOfCode) {
      // What acts is typed on the node; a cluster's apply by the API, from anywhere.
      const isPlaced = /on node \S+: /.test(line) || /^Needs you \(on node /m.test(stdout) || words[0] === 'apply'
      if (!isPlaced) bad.push(`not on this snapshot: ${command}`)
      continue
    }
    const run = await volctl(words)
    if (run.status === 1) bad.push(`${command}: ${run.stderr}`)
  }
  return bad
}

describe.each(captureFiles())('%s', (path) => {
  const snapshot = ['--snapshot', join(CAPTURES, path)]
  it.each(['plan', 'plan --orphans', 'status', 'doctor'])('%s', async (command) => {
    const { stdout } = await volctl([...command.split(' '), ...snapshot])
    expect(await refused(stdout)).toEqual([])
  })

  it('explain, of what has the worst verdicts', async () => {
    const rows = (await volctl(['status', '-o', 'name', ...snapshot])).stdout.trim().split('\n')
    for (const name of rows.slice(0, EXPLAINED)) {
      const { stdout } = await volctl(['explain', name, ...snapshot])
      expect(await refused(stdout), name).toEqual([])
    }
  })
})

describe.each(globSync('*.jsonl', { cwd: CLUSTERS }))('%s', (file) => {
  it.each(['', 'shop/web-0'])('plan --cluster %s', async (name) => {
    const names = name === '' ? [] : [name, '--ignore-not-found']
    const { stdout } = await volctl(['plan', '--cluster', ...names, '--snapshot', join(CLUSTERS, file)])
    expect(commandsIn(stdout).length).toBeGreaterThan(0)
    expect(await refused(stdout)).toEqual([])
  })
})
