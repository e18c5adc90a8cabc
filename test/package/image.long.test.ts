/** The image, as a layout and as the root directory of a container on a node. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { about } from '../../scripts/package/facts.ts'
import { writeImage } from '../../scripts/package/image.ts'
import { runMachine } from '../e2e/run-scenario.ts'
import type { HostRootReport } from '../e2e/scenarios/host-root.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { filesBelow, noPackages, sha256, testsExecutable, where } from './roots.ts'

const work = temporary('volctl-image-')
/** Made before, where test/e2e starts it, too. */
const { VOLCTL_PROGRAM: madeBefore } = process.env

afterAll(() => sweep(work))

/** Of an image layout, what is compared here (image-spec). */
interface Descriptor {
  readonly digest: string
  readonly platform?: object
}
interface Index {
  readonly manifests: readonly Descriptor[]
}
interface Manifest {
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}
interface Config {
  readonly rootfs: { readonly diff_ids: readonly string[] }
  readonly config: { readonly Labels: Readonly<Record<string, string>> }
}

const NOTHING: Descriptor = { digest: '' }
const parsed = <T>(bytes: Buffer): T => JSON.parse(bytes.toString('utf8')) as T

async function unpack(archive: string, to: string): Promise<void> {
  mkdirSync(to)
  await execa('tar', ['-xpf', archive, '-C', to])
}

describe.skipIf(noPackages !== undefined)(`image${where}`, () => {
  const archive = join(work, 'image.oci.tar')
  const image = join(work, 'image')
  const layout = join(work, 'layout')
  let descriptor: Descriptor | undefined
  let manifest: Manifest
  let report: HostRootReport
  const blobPath = ({ digest } = NOTHING): string => join(layout, 'blobs', digest.replace(':', '/'))
  const blob = (of: Descriptor | undefined): Buffer => {
    expect(`sha256:${sha256(blobPath(of))}`).toBe(of?.digest)
    return readFileSync(blobPath(of))
  }
  beforeAll(async () => {
    const executable = await testsExecutable(work)
    await writeImage(new Map([['x64', executable]]), 0, 'quick', archive)
    await unpack(archive, layout)
    const [found] = parsed<Index>(readFileSync(join(layout, 'index.json'))).manifests
    ;[descriptor] = parsed<Index>(blob(found)).manifests
    manifest = parsed<Manifest>(blob(descriptor))
    await unpack(blobPath(manifest.layers[0]), image)
    Object.assign(process.env, { VOLCTL_PROGRAM: executable, VOLCTL_IMAGE_ROOT: image })
    try {
      report = await runMachine<HostRootReport>('host-root')
    } finally {
      delete process.env.VOLCTL_IMAGE_ROOT
      if (madeBefore === undefined) delete process.env.VOLCTL_PROGRAM
      else process.env.VOLCTL_PROGRAM = madeBefore
    }
  })

  it('is an OCI layout: each blob is what its name says, from the index to the files', () => {
    expect(parsed(readFileSync(join(layout, 'oci-layout')))).toEqual({ imageLayoutVersion: '1.0.0' })
    expect(descriptor?.platform).toEqual({ architecture: 'amd64', os: 'linux' })
    const config = parsed<Config>(blob(manifest.config))
    const files = gunzipSync(blob(manifest.layers[0]))
    expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash('sha256').update(files).digest('hex')}`])
    expect(config.config).toMatchObject({ Entrypoint: ['/usr/bin/volctl'], User: '0:0' })
    expect(config.config.Labels['org.opencontainers.image.version']).toBe(about.version)
    expect(config.config.Labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}(-dirty)?$|^unknown$/)
  })

  it('has nothing to run but volctl, the program that enters the node, and the loader', () => {
    const programs = filesBelow(image).filter(
      (path) => (lstatSync(path).mode & 0o111) !== 0 && lstatSync(path).isFile(),
    )
    const names = programs.map((path) => path.slice(image.length)).toSorted()
    expect(names).toEqual([expect.stringMatching(/\/ld-[^/]+$/), '/usr/bin/nsenter', '/usr/bin/volctl'])
  })

  it('on a node, as a Pod has it, or one of kubectl debug: plans what volctl plans on the node itself; and repairs it', () => {
    const operations = ({ stdout }: { readonly stdout: string }): readonly { readonly id: string }[] =>
      (JSON.parse(stdout) as { readonly operations: readonly { readonly id: string }[] }).operations
    const planned = operations(report.onNode.plan)
    expect(planned.length).toBeGreaterThan(10)
    expect(report.inContainer.plan).toMatchObject({ status: 0, stderr: '' })
    for (const there of [report.inContainer.plan, report.debug])
      expect(operations(there).map(({ id }) => id)).toEqual(planned.map(({ id }) => id))
    expect(report.repair).toMatchObject({ status: 0 })
    expect(report.left).toBe(0)
  })

  it('runs what deploy/node-pod.yaml says', () => {
    expect(report.pod).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' operations: ') })
  })

  it("runs what deploy/job.yaml says, with the Pod's service account where the node has no credential", () => {
    const { status, stdout, stderr } = report.job ?? {}
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout ?? '')).toMatchObject({ inputs: { api: { user: 'volctl-plan' } }, complete: true })
  })

  it.each([
    { name: 'apply in a Pod of kubectl debug', of: () => report.held, status: 4, says: 'deploy/node-pod.yaml' },
    { name: "a Pod without the node's processes", of: () => report.ownPids, status: 1, says: 'hostPID' },
  ])('refuses, and says what is needed: $name', ({ of, status, says }) =>
    expect(of()).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) }),
  )
})
