/** What is shipped: one file, the same from the same source, that loads little. */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { buildBundles } from '../../scripts/build.ts'
import { ownCommand } from '../../src/core/linux/own-child.ts'
import { PARTS } from '../../src/core/users/process-messages.ts'
import { HEALTHY } from '../helpers/captures.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

const dist = new URL('../../dist/', import.meta.url).pathname
const directory = temporaryDirectory()

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

it('two builds give the same bytes', async () => {
  const [a, b] = await Promise.all(['a', 'b'].map((name) => buildBundles(join(directory, name))))
  expect(a?.map(hashOf)).toEqual(b?.map(hashOf))
})

it('the bundle says nothing of the machine that built it', () => {
  const text = readFileSync(join(dist, 'volctl.cjs'), 'utf8')
  expect(text).not.toContain(process.cwd())
  expect(text).not.toContain('node_modules/@')
})

it('the bundle has no import() by name, with which Node.js would warn of an experiment', () => {
  const text = readFileSync(join(dist, 'volctl.cjs'), 'utf8')
  expect([...text.matchAll(/\bimport\(\s*["'`][^)]{0,40}/g)].map(([found]) => found)).toEqual([])
})

/** A copy of what is shipped, to play with. */
function shipped(name: string): string {
  const root = join(directory, name)
  mkdirSync(join(root, 'bin'), { recursive: true })
  cpSync(BUNDLE, join(root, 'bin', 'volctl'))
  cpSync(dist, join(root, 'dist'), { recursive: true })
  // Root takes no Node.js of the PATH.
  const node = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin')
  mkdirSync(node, { recursive: true })
  symlinkSync(process.execPath, join(node, 'node'))
  return root
}

const version = /^volctl\/\S+ linux-\S+ node-v\S+\n$/

it('runs through a link, from any directory, and without a code cache', async () => {
  const root = shipped('elsewhere')
  symlinkSync(join(root, 'bin', 'volctl'), join(directory, 'volctl'))
  rmSync(join(root, 'dist', 'code-cache'))
  const run = await execa(join(directory, 'volctl'), ['--version'], { cwd: '/', stripFinalNewline: false })
  expect(run.stdout).toMatch(version)
  expect(readdirSync(join(root, 'dist'))).not.toContain('code-cache')
})

it('runs with a code cache that is damaged', async () => {
  const root = shipped('damaged-cache')
  writeFileSync(join(root, 'dist', 'code-cache'), 'not what V8 has made')
  const run = await execa(join(root, 'bin', 'volctl'), ['--version'], { stripFinalNewline: false })
  expect(run.stdout).toMatch(version)
})

it('V8 takes the code cache with the flags that the launcher gives', async () => {
  const root = shipped('flags')
  const look = `const { readFileSync } = require('node:fs')
    const [source, cache] = ['volctl.cjs', 'code-cache'].map((name) => readFileSync(__dirname + '/' + name))
    const script = require('./load-bundle.cjs').compileBundle(source.toString('latin1'), cache)
    console.log(script.cachedDataRejected)`
  writeFileSync(join(root, 'dist', 'launch.cjs'), look)
  expect((await execa(join(root, 'bin', 'volctl'))).stdout).toBe('false')
})

it('a plan from a snapshot loads no network, no gRPC and no API client', async () => {
  const preload = join(directory, 'preload.cjs')
  const list = join(directory, 'modules.json')
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(process.moduleLoadList)))`,
  )
  const launcher = ['--require', preload, join(dist, 'launch.cjs')]
  await execa(process.execPath, [...launcher, 'plan', '--snapshot', HEALTHY])
  const loaded = JSON.parse(readFileSync(list, 'utf8')) as string[]
  for (const module of ['https', 'http2', 'tls']) expect(loaded).not.toContain(`NativeModule ${module}`)
})

it('is small', () => expect(statSync(join(dist, 'volctl.cjs')).size).toBeLessThan(2_475_000))

it('what a child of its own loads is smaller by far, and has none of the commands', async () => {
  const path = join(dist, 'child.cjs')
  expect(statSync(path).size).toBeLessThan(125_000)
  expect(readFileSync(path, 'utf8')).not.toMatch(/oclif|certificate-authority-data/)
  const root = shipped('child')
  rmSync(join(root, 'dist', 'volctl.cjs'))
  const args = [join(root, 'dist', 'launch.cjs'), ...ownCommand('process-reader').slice(-1)]
  const nothing = { fileSystems: [], anonymous: false, devices: [], local: [], slow: [] }
  const input = JSON.stringify({ parent: process.pid, pids: [process.pid], from: 0, ...nothing })
  const { stdout } = await execa(process.execPath, args, { input })
  const answers = stdout.split('\n').filter((line) => line !== '')
  expect(answers.map((answer) => JSON.parse(answer) as unknown)).toEqual(PARTS.map(() => ({ uses: expect.any(Array) })))
})

it('the word that starts a child is no command at a terminal', async () => {
  const word = ownCommand('process-reader').at(-1) ?? ''
  const command = `${BUNDLE} ${word}`
  const { stdout } = await execa('script', ['-qec', command, '/dev/null'], { reject: false, timeout: 20_000 })
  expect(stdout).toContain(`${word} stands where the command belongs`)
})
