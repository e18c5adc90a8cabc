/** The calls of flexVolume drivers (P87, P88). */
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { linuxHost } from '../../src/core/rules/host.ts'
import type { CommandResult } from '../../src/core/trust/programs.ts'
import { NOBODY, noOthersFiles } from '../helpers/others-files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Fixture, POD, ROOT, step } from './apply-fixture.ts'

const DRIVER = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/v~d/d'
const DIR = `${ROOT}/pods/${POD}/volumes/v~d/f`
const GLOBAL = `${ROOT}/plugins/kubernetes.io/flexvolume/v/d/mounts/f`
const volume = { name: 'f', plugin: 'v/d', mode: 'Filesystem' as const }

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
})

/** The driver takes this many layers off and says this. */
function driver(answer: Partial<CommandResult> | object, takes = 0): void {
  fixture.host.programs = (_, args) => {
    for (let i = 0; i < takes; i++) fixture.host.take(args[1] ?? '')
    return 'stdout' in answer || 'timedOut' in answer ? answer : { stdout: `${JSON.stringify(answer)}\n` }
  }
}

async function run(op: 'flexUnmount' | 'flexUnmountDevice', target: string, mounts = 1) {
  const layers = Array.from({ length: mounts }, () => fixture.host.mount(target, { dev: '8:1', fsType: 'ext4' }))
  const steps = [step(op, target, DRIVER), step('rmdir', target)]
  const kind = op === 'flexUnmount' ? 'UnmountVolume' : 'UnmountDevice'
  const { end: state, message } = await fixture.applyOne({ kind, volume, steps, expects: layers.slice(-1) })
  return { state, message, log: fixture.host.log }
}

describe.each([
  { op: 'flexUnmount', call: 'unmount', target: DIR },
  { op: 'flexUnmountDevice', call: 'unmountdevice', target: GLOBAL },
] as const)('$call', ({ op, call, target }) => {
  it('a plain unmount takes its place where the driver says "Not supported", whatever its exit status', async () => {
    driver({ status: 1, stdout: '{"status": "Not supported"}' })
    expect(await run(op, target)).toMatchObject({
      state: 'done',
      log: [`${DRIVER} ${call} ${target}`, `umount plain ${target}`, `rmdir ${target}`],
    })
  })

  it.each([
    {
      name: 'a failure',
      answer: { status: 1, stdout: '{"status":"Failure","message":"no such export"}' },
      says: 'no such export',
    },
    { name: 'no JSON', answer: { stdout: 'usage: d COMMAND' }, says: 'usage: d COMMAND' },
    {
      name: 'Success, and ends with another status',
      answer: { status: 3, stdout: '{"status":"Success"}' },
      says: 'exit status is 3',
    },
  ])('that prints $name fails, and nothing is removed', async ({ answer, says }) => {
    driver(answer)
    const { state, message, log } = await run(op, target)
    expect(state).toBe('failed DriverFailed')
    expect(message).toContain(says)
    expect(log).toHaveLength(1)
  })

  it('Success with the mount still there is not believed', async () => {
    driver({ status: 'Success' })
    expect((await run(op, target)).state).toBe('failed DriverFailed')
  })

  it('what it left of a stack is unmounted', async () => {
    driver({ status: 'Success' }, 1)
    const { state, log } = await run(op, target, 2)
    expect(state).toBe('done')
    expect(log.slice(1)).toEqual([`umount plain ${target}`, `rmdir ${target}`])
  })
})

it('unmount is called also where nothing is mounted, unmountdevice is not (P88)', async () => {
  driver({ status: 'Success' })
  fixture.host.dir(DIR).dir(GLOBAL)
  expect((await run('flexUnmount', DIR, 0)).log).toEqual([`${DRIVER} unmount ${DIR}`, `rmdir ${DIR}`])
  fixture.host.log.length = 0
  expect((await run('flexUnmountDevice', GLOBAL, 0)).log).toEqual([`rmdir ${GLOBAL}`])
})

describe('a driver on the disk', () => {
  const made = (): string => {
    const path = `${temporaryDirectory()}/v~d/d`
    mkdirSync(dirname(path))
    writeFileSync(path, `#!/bin/sh\necho "$@" >>"$0.called"\necho '{"status":"Success"}'\n`, { mode: 0o755 })
    return path
  }
  const called = async (program: string) => {
    fixture.host.run = (name, args, ms, input) => linuxHost.run(name, args, ms, input)
    const layer = fixture.host.mount(DIR, { dev: '8:1', fsType: 'ext4' })
    const steps = [step('flexUnmount', DIR, program), step('rmdir', DIR)]
    const outcome = await fixture.applyOne({ volume, steps, expects: [layer] })
    return { outcome, log: fixture.host.log, ran: existsSync(`${program}.called`) }
  }

  it("of root's is run", async () => {
    expect(await called(made())).toMatchObject({ outcome: { code: 'DriverFailed' }, ran: true })
  })

  it('one that is not there is not replaced by umount', async () => {
    expect(await called(`${temporaryDirectory()}/d`)).toMatchObject({ outcome: { code: 'CommandFailed' }, log: [] })
  })

  it.skipIf(noOthersFiles !== undefined)(
    'of another user is not run, and nothing else is done in its place',
    async () => {
      const path = made()
      chownSync(path, NOBODY, NOBODY)
      const { outcome, log, ran } = await called(path)
      expect({ log, ran }).toEqual({ log: [], ran: false })
      expect(outcome).toMatchObject({
        state: 'failed',
        code: 'NotBelieved',
        message: expect.stringMatching(`^[^\n]*${path} is not run as root: ${path} belongs to[^\n]*$`),
        hint: expect.stringContaining('chown root'),
      })
    },
  )
})
