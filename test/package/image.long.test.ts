/** The image, as a layout and as the root directory of a container on a node. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { execa } from 'execa'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeImage } from '../../scripts/package/image.ts'
import { about } from '../../scripts/package/tree.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { leftOf, planOf } from '../e2e/story.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { type Run, runUnjudged } from '../helpers/scene/volctl.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { filesBelow, noPackages, sha256, testsExecutable } from './roots.ts'

const work = temporary('volctl-image-')

afterAll(() => sweep(work))

const parsed = (bytes: Buffer) => JSON.parse(bytes.toString('utf8'))

/** Of an image layout: what a blob is called by (image-spec). */
interface Descriptor {
  readonly digest: string
}

const ENTER = new URL('../helpers/image/container', import.meta.url).pathname

/** The command of a manifest's container. */
function commandOf(file: string): string {
  const text = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8')
  const { spec } = load(text) as { readonly spec: PodSpec & { readonly template?: { readonly spec: PodSpec } } }
  const [, ...args] = (spec.template?.spec ?? spec).containers[0].command
  return `"$0" ${args.join(' ')}`
}

interface PodSpec {
  readonly containers: readonly [{ readonly command: readonly string[] }]
}

/** As the kubelet puts a service account into a container: of a user who may read what a plan needs. @returns the environment there */
function asServiceAccount(scene: Scene, image: string): Readonly<Record<string, string>> {
  const [{ user }] = parsed(readFileSync(scene.api.kubeconfig('plan'))).users
  const directory = join(image, 'var/run/secrets/kubernetes.io/serviceaccount')
  mkdirSync(join(directory, '..2026'), { recursive: true })
  writeFileSync(join(directory, '..2026', 'token'), user.token, { mode: 0o600 })
  copyFileSync(join(scene.api.directory, 'ca.crt'), join(directory, '..2026', 'ca.crt'))
  symlinkSync('..2026', join(directory, '..data'))
  for (const name of ['token', 'ca.crt']) symlinkSync(`..data/${name}`, join(directory, name))
  chmodSync(directory, 0o1777)
  const { kubeconfig: _, ...host } = parsed(readFileSync(scene.hostFile))
  const poor = join(scene.directory, 'host-without-credential.json')
  writeFileSync(poor, JSON.stringify(host))
  const { hostname, port } = new URL(scene.api.url)
  return { VOLCTL_TEST_HOST: poor, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
}

async function unpack(archive: string, to: string): Promise<void> {
  mkdirSync(to)
  await execa('tar', ['-xpf', archive, '-C', to])
}

describeUnless(noPackages, 'image', () => {
  const archive = join(work, 'image.oci.tar')
  const image = join(work, 'image')
  const layout = join(work, 'layout')
  let files: string
  let descriptor: Descriptor & { readonly platform: object }
  let manifest: { readonly config: Descriptor; readonly layers: readonly [Descriptor] }
  let scene: Scene
  const blobPath = ({ digest }: Descriptor): string => join(layout, 'blobs', digest.replace(':', '/'))
  const blob = (of: Descriptor): Buffer => {
    expect(`sha256:${sha256(blobPath(of))}`).toBe(of.digest)
    return readFileSync(blobPath(of))
  }
  beforeAll(async () => {
    const executable = await testsExecutable(work)
    await writeImage(new Map([['x64', executable]]), 0, 'quick', archive)
    await unpack(archive, layout)
    const [found] = parsed(readFileSync(join(layout, 'index.json'))).manifests
    ;[descriptor] = parsed(blob(found)).manifests
    manifest = parsed(blob(descriptor))
    await unpack(blobPath(manifest.layers[0]), image)
    // As systemd makes it.
    execFileSync('mount', ['--make-rshared', '/'])
    scene = await makeScene({ small: true })
    await scene.breakIt()
    files = join(scene.directory, 'files')
    mkdirSync(files)
  })
  afterAll(() => scene.dispose())

  /** @param script of a shell outside, since the image has none; $0 is volctl in a container of it */
  const inImage = (script: string, more: Readonly<Record<string, string>> = {}): Promise<Run> => {
    const env = { ...scene.env, TMPDIR: scene.directory, VOLCTL_IMAGE_ROOT: image, ...more }
    return runUnjudged({ env, cwd: files, program: 'sh' }, ['-c', script, ENTER])
  }

  it('is an OCI layout: each blob is what its name says, from the index to the files', () => {
    expect(parsed(readFileSync(join(layout, 'oci-layout')))).toEqual({ imageLayoutVersion: '1.0.0' })
    expect(descriptor.platform).toEqual({ architecture: 'amd64', os: 'linux' })
    const config = parsed(blob(manifest.config))
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

  it('runs what deploy/node-pod.yaml says', async () => {
    const pod = await inImage(commandOf('node-pod.yaml'))
    expect(pod).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' operations: ') })
  })

  it("runs what deploy/job.yaml says, with the Pod's service account where the node has no credential", async () => {
    const { status, stdout, stderr } = await inImage(commandOf('job.yaml'), asServiceAccount(scene, image))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ inputs: { api: { user: 'volctl-plan' } }, complete: true })
  })

  it('on a node, as a Pod has it, or one of kubectl debug: plans what volctl plans on the node itself; and repairs it', async () => {
    const planned = (await planOf(scene, '--orphans')).plan.operations.map(({ id }) => id)
    expect(planned.length).toBeGreaterThan(10)
    for (const mounts of ['slave', 'private']) {
      const there = await inImage('"$0" plan --orphans -o json --host-root /host', { VOLCTL_IMAGE_MOUNTS: mounts })
      expect(there).toMatchObject({ status: 0, stderr: '' })
      expect((JSON.parse(there.stdout) as Plan).operations.map(({ id }) => id)).toEqual(planned)
    }
    const save = '"$0" plan --orphans --out ./saved.plan --host-root /host >/dev/null && test -s saved.plan'
    const repair = await inImage(`${save} && "$0" apply ./saved.plan --yes -o ndjson --host-root /host`)
    expect([repair.status, await leftOf(scene)]).toEqual([0, 0])
  })
})
