import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { writeStateFile } from '../../src/core/linux/descriptors.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** In a process that may not write a byte to any file, as on a disk that is full. */
function writeWithoutRoom(path: string): string {
  const module = new URL('../../src/core/linux/descriptors.ts', import.meta.url)
  const script = `
    import { writeStateFile } from ${JSON.stringify(module.href)}
    try { writeStateFile(process.argv[1], 'new') } catch (error) { process.stdout.write(error.code) }`
  const node = `exec ${process.execPath} --no-warnings --input-type=module -e "$0" "$1"`
  const limits = "trap '' XFSZ; ulimit -f 0"
  return spawnSync('/bin/bash', ['-c', `${limits}; ${node}`, script, path], { encoding: 'utf8' }).stdout
}

it('leaves no piece of a state file where there is no room for it', () => {
  const directory = temporaryDirectory()
  expect(writeWithoutRoom(`${directory}/vol_data.json`)).toBe('EFBIG')
  expect(readdirSync(directory)).toEqual([])
})

it('keeps the one that was there where there is no room for the next', () => {
  const directory = temporaryDirectory()
  writeStateFile(`${directory}/iscsi.json`, 'old')
  expect(writeWithoutRoom(`${directory}/iscsi.json`)).toBe('EFBIG')
  expect(readdirSync(directory)).toEqual(['iscsi.json'])
  expect(readFileSync(`${directory}/iscsi.json`, 'utf8')).toBe('old')
})
