/**
 * The image as an OCI archive: a tar of an image layout (index.json, blobs by their SHA-256), which skopeo, podman, buildah, docker
 * and `ctr images import` take. Written without any of them, so that the same source gives the same bytes, and root is not needed.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { sourceCommit } from '../source-commit.ts'
import { type Arch, DEBIAN_ARCH } from './debian-libraries.ts'
import { imageParts, nodeLibraries } from './fetched.ts'
import { about, archiveOf, compressed, DOCUMENTS, type Effort, put, root, setModes } from './tree.ts'

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
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'volctl-image-'))
  const work = temporary.path
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

/** What a container's programs expect, though empty: the runtime mounts over most of them. */
const DIRECTORIES: Readonly<Record<string, number>> = {
  dev: 0o755,
  host: 0o755,
  proc: 0o555,
  root: 0o700,
  sys: 0o555,
  tmp: 0o1777,
}
const FILES: Readonly<Record<string, string>> = {
  // HOME of a container's process comes from here.
  passwd: 'root:x:0:0:root:/root:/usr/sbin/nologin\n',
  group: 'root:x:0:\n',
  'nsswitch.conf': 'hosts: files dns\n',
}

/**
 * The root directory: volctl, glibc, and nsenter(1) with what it is linked with. Nothing else is run in it, since volctl enters the
 * node's mount namespace and runs the node's programs there. No shell; Node.js has the certificates of public authorities inside.
 *
 * @param to an empty directory; @param executable for that machine
 */
async function writeImageRoot(to: string, arch: Arch, executable: string): Promise<void> {
  put(to, 'usr/bin/volctl', executable, 0o755)
  for (const { file, path } of await nodeLibraries(arch)) put(to, `usr/lib/volctl/${file}`, path)
  for (const name of DOCUMENTS) put(to, `usr/share/doc/volctl/${name}`, join(root, name))
  for (const { name, folder, files } of await imageParts(arch)) {
    copyFiles(folder, to, files)
    put(to, `usr/share/doc/${name}/copyright`, join(folder, 'usr/share/doc', name, 'copyright'))
  }
  mkdirSync(join(to, 'etc'))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(to, 'etc', name), text)
  for (const name of Object.keys(DIRECTORIES)) mkdirSync(join(to, name))
  setModes(to)
  for (const [name, mode] of Object.entries(DIRECTORIES)) chmodSync(join(to, name), mode)
}

/** Files and links of a package, at their places. Of its files only programs can be run; the loader is one. */
function copyFiles(folder: string, to: string, files: RegExp): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const from = join(entry.parentPath, entry.name)
    const path = relative(folder, from)
    if (entry.isDirectory() || !files.test(path)) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), join(to, path))
    else put(to, path, from, /\/bin\/|\/ld-[^/]*$/.test(path) ? 0o755 : 0o644)
  }
}
