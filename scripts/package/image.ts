/**
 * Images as OCI archives: a tar of an image layout (index.json, blobs by their SHA-256), which skopeo, podman, buildah, docker
 * and `ctr images import` take. Written without any of them, so that the same source gives the same bytes, and root is not needed.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sourceCommit } from '../source-commit.ts'
import { type Arch, DEBIAN_ARCH } from './debian-libraries.ts'
import { about, type Effort } from './facts.ts'
import { writeImageRoot } from './image-root.ts'
import { archiveOf, compressed } from './tarball.ts'
import { root, settle } from './tree.ts'

const OCI = 'application/vnd.oci.image'

/** An image for one machine. */
export interface Image {
  readonly arch: Arch
  /** Its files, compressed. */
  readonly layer: Buffer
  /** JSON. */
  readonly config: Buffer
}

/** What names a blob in another. */
interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly platform?: object
  readonly annotations?: Readonly<Record<string, string>>
}

/** @param executable for that machine; @param date of every file and of the image, in seconds */
export async function makeImage(arch: Arch, executable: string, date: number, effort: Effort): Promise<Image> {
  const work = mkdtempSync(join(tmpdir(), 'volctl-image-'))
  try {
    await writeImageRoot(work, arch, executable)
    const files = archiveOf(work, readdirSync(work).toSorted(), date)
    return { arch, layer: compressed(files, effort), config: json(configuration(arch, digest(files), date)) }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** One archive with an image, or with the same one for several machines. */
export function writeImageArchive(images: readonly Image[], date: number, path: string): void {
  const work = mkdtempSync(join(tmpdir(), 'volctl-layout-'))
  try {
    const blobs = join(work, 'blobs', 'sha256')
    mkdirSync(blobs, { recursive: true })
    const add = (mediaType: string, bytes: Buffer): Descriptor => {
      const sum = digest(bytes)
      writeFileSync(join(blobs, sum.replace('sha256:', '')), bytes)
      return { mediaType, digest: sum, size: bytes.length }
    }
    const manifests = images.map((image) => ({ ...addManifest(image, add), platform: platform(image.arch) }))
    const [top] = manifests.length === 1 ? manifests : [add(`${OCI}.index.v1+json`, json(index(manifests)))]
    if (top === undefined) throw new Error('there is no image')
    writeFileSync(join(work, 'index.json'), json(index([{ ...top, annotations: NAMES }])))
    writeFileSync(join(work, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
    settle(work, date)
    writeFileSync(path, archiveOf(work, ['blobs', 'index.json', 'oci-layout'], date))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** What an archive calls its image: skopeo and podman by the first, containerd by the second. */
const NAMES = {
  'org.opencontainers.image.ref.name': about.version,
  'io.containerd.image.name': `docker.io/library/volctl:${about.version}`,
}

function addManifest({ layer, config }: Image, add: (mediaType: string, bytes: Buffer) => Descriptor): Descriptor {
  const manifest = {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: add(`${OCI}.config.v1+json`, config),
    layers: [add(`${OCI}.layer.v1.tar+gzip`, layer)],
  }
  return add(manifest.mediaType, json(manifest))
}

function index(manifests: readonly Descriptor[]): object {
  return { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests }
}

function platform(arch: Arch): { readonly architecture: string; readonly os: string } {
  return { architecture: DEBIAN_ARCH[arch], os: 'linux' }
}

function configuration(arch: Arch, files: string, date: number): object {
  const created = new Date(date * 1000).toISOString()
  return {
    created,
    ...platform(arch),
    config: {
      // On a node volctl needs root, and refuses to change anything without.
      User: '0:0',
      Env: ['PATH=/usr/bin', 'LANG=C.UTF-8'],
      Entrypoint: ['/usr/bin/volctl'],
      Cmd: ['--help'],
      WorkingDir: '/',
      Labels: {
        'org.opencontainers.image.title': 'volctl',
        'org.opencontainers.image.description': about.summary,
        'org.opencontainers.image.version': about.version,
        'org.opencontainers.image.revision': sourceCommit(root),
        'org.opencontainers.image.created': created,
        'org.opencontainers.image.licenses': about.license,
        'org.opencontainers.image.vendor': about.maintainer,
      },
    },
    rootfs: { type: 'layers', diff_ids: [files] },
    history: [{ created, created_by: 'npm run package' }],
  }
}

const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)
const digest = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
