/**
 * The image as an OCI archive: a tar of an image layout (index.json, blobs by their SHA-256), which skopeo, podman, buildah, docker
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
import { root, setModes } from './tree.ts'

const OCI = 'application/vnd.oci.image'

/** What names a blob in another. */
interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** @param executables by the machine that each is for; @param date of every file and of the image, in seconds */
export async function writeImage(
  executables: ReadonlyMap<Arch, string>,
  date: number,
  effort: Effort,
  path: string,
): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'volctl-image-'))
  try {
    const layout = join(work, 'layout')
    mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true })
    const add = (kind: string, bytes: Buffer): Descriptor => {
      const digest = digestOf(bytes)
      writeFileSync(join(layout, 'blobs', digest.replace(':', '/')), bytes)
      return { mediaType: `${OCI}.${kind}`, digest, size: bytes.length }
    }
    const manifests: object[] = []
    for (const [arch, executable] of executables) {
      const tree = join(work, arch)
      mkdirSync(tree)
      await writeImageRoot(tree, arch, executable)
      const files = archiveOf(tree, readdirSync(tree).toSorted(), date)
      const platform = { architecture: DEBIAN_ARCH[arch], os: 'linux' }
      const manifest = {
        schemaVersion: 2,
        mediaType: `${OCI}.manifest.v1+json`,
        config: add('config.v1+json', json({ ...platform, ...configuration(digestOf(files), date) })),
        layers: [add('layer.v1.tar+gzip', compressed(files, effort))],
      }
      manifests.push({ ...add('manifest.v1+json', json(manifest)), platform })
    }
    const top = add('index.v1+json', json(index(manifests)))
    writeFileSync(join(layout, 'index.json'), json(index([{ ...top, annotations: NAMES }])))
    writeFileSync(join(layout, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
    setModes(layout)
    writeFileSync(path, archiveOf(layout, ['blobs', 'index.json', 'oci-layout'], date))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** What an archive calls its image: skopeo and podman by the first, containerd by the second. */
const NAMES = {
  'org.opencontainers.image.ref.name': about.version,
  'io.containerd.image.name': `docker.io/library/volctl:${about.version}`,
}

function index(manifests: readonly object[]): object {
  return { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests }
}

/** @param files the digest of all, not compressed */
function configuration(files: string, date: number): object {
  const created = new Date(date * 1000).toISOString()
  return {
    created,
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
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
