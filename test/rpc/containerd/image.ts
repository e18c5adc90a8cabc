import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An image archive with busybox, a static program, as its only file; @returns the archive. */
export function makeImage(directory: string, name: string, program: string, args: readonly string[]): string {
  const layer = join(directory, 'layer')
  mkdirSync(layer, { recursive: true })
  copyFileSync(program, join(layer, 'busybox'))
  execFileSync('tar', [
    '--create',
    '--file',
    join(directory, 'layer.tar'),
    '--directory',
    layer,
    '--owner=0',
    '--group=0',
    'busybox',
  ])
  const digest = createHash('sha256')
    .update(readFileSync(join(directory, 'layer.tar')))
    .digest('hex')
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Entrypoint: ['/busybox', ...args] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
    history: [{ created_by: 'by hand' }],
  }
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config))
  const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
  const archive = join(directory, 'image.tar')
  const members = ['manifest.json', 'config.json', 'layer.tar']
  execFileSync('tar', ['--create', '--file', archive, '--directory', directory, ...members])
  return archive
}
