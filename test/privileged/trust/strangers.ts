/** What somebody else than root has on a node: processes, files, and programs that say when they are run. */
import { chmodSync, existsSync, lchownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { sh } from '../../helpers/scenario.ts'
import { type Holder, hold, STAYS } from '../holder.ts'

/** Anybody but root; no such user need be known here. */
export const STRANGER = 65_534

/** Makes something the stranger's own. @returns the path */
export function givenAway(path: string): string {
  lchownSync(path, STRANGER, STRANGER)
  return path
}

/** A directory of the stranger's. */
export function foreignDirectory(path: string): string {
  mkdirSync(path, { recursive: true })
  return givenAway(path)
}

export function foreignFile(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return givenAway(path)
}

/** Where programs that must never run write that they did, whoever runs them, one line each. */
export class Marker {
  readonly path: string

  constructor(directory: string) {
    this.path = `${directory}/marker`
    writeFileSync(this.path, '')
    chmodSync(this.path, 0o666)
  }

  /** What has run so far. */
  read(): string {
    return readFileSync(this.path, 'utf8')
  }

  /** A program that says that it was run, and then does what else it is told. */
  program(path: string, then = 'exit 0'): string {
    mkdirSync(dirname(path), { recursive: true })
    const name = path.slice(path.lastIndexOf('/') + 1)
    writeFileSync(path, `#!/bin/sh\necho ran ${name} >> ${this.path}\n${then}\n`)
    chmodSync(path, 0o755)
    return path
  }

  /**
   * The same as machine code, for the place of the dynamic loader: what the kernel starts instead of every program that
   * is linked to it. Elsewhere than on x86-64 an empty file, with which nothing starts.
   */
  loader(path: string): string {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, process.arch === 'x64' ? markingLoader(this.path) : '')
    chmodSync(path, 0o755)
    return path
  }
}

/** A position-independent ELF file that appends "ran\n" to a file and exits. */
function markingLoader(marker: string): Buffer {
  const HEADERS = 64 + 56
  const code = Buffer.concat([
    Buffer.from('488d3d00000000', 'hex'), // lea rdi, [rip + path]
    Buffer.from('be41040000', 'hex'), // mov esi, O_WRONLY | O_CREAT | O_APPEND
    Buffer.from('bab6010000', 'hex'), // mov edx, 0666
    Buffer.from('b8020000000f05', 'hex'), // open
    Buffer.from('89c7', 'hex'), // mov edi, eax
    Buffer.from('488d3500000000', 'hex'), // lea rsi, [rip + text]
    Buffer.from('ba04000000', 'hex'), // mov edx, 4
    Buffer.from('b8010000000f05', 'hex'), // write
    Buffer.from('bf2a000000b83c0000000f05', 'hex'), // exit(42)
  ])
  const text = Buffer.from(`ran\n${marker}\0`)
  code.writeInt32LE(code.length + 4 - 7, 3)
  code.writeInt32LE(code.length - 33, 29)
  const size = HEADERS + code.length + text.length
  const header = Buffer.alloc(HEADERS)
  header.write('\x7fELF\x02\x01\x01', 'latin1')
  header.writeUInt16LE(3, 16) // ET_DYN
  header.writeUInt16LE(62, 18) // x86-64
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(BigInt(HEADERS), 24) // entry
  header.writeBigUInt64LE(64n, 32) // program headers
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  header.writeUInt32LE(1, 64) // PT_LOAD
  header.writeUInt32LE(5, 68) // readable, executable
  header.writeBigUInt64LE(BigInt(size), 96)
  header.writeBigUInt64LE(BigInt(size), 104)
  header.writeBigUInt64LE(4096n, 112)
  return Buffer.concat([header, code, text])
}

export interface ProcessOptions {
  /** The name that it bears. */
  readonly name: string
  readonly flags?: readonly string[]
  readonly uid?: number
  readonly cwd?: string
  /** What starts it: a command that ends in executing what follows. */
  readonly through?: readonly string[]
  /** What is done in its mount namespace, by a shell of root's, once it runs. */
  readonly inside?: string
  /** With a child of its own that has not begun its program yet, and so bears its name and arguments. */
  readonly forked?: boolean
}

/** Starts what only has a name and a command line, and waits until it has them. It ends with its starter. */
export async function startNamed(directory: string, options: ProcessOptions): Promise<Holder> {
  const { name, flags = [], uid, cwd, through = [], inside, forked = false } = options
  const program = `${directory}/bin/${name}`
  mkdirSync(dirname(program), { recursive: true })
  if (!existsSync(program)) symlinkSync('/bin/bash', program)
  // Privileged mode: bash else gives up what only its effective uid may do.
  const script = `${forked ? 'exec 3<&0; (read -r line <&3) & ' : ''}${STAYS}`
  const held = await hold([...through, program, '-p', '-c', script, ...flags], { cwd, uid, gid: uid })
  if (inside !== undefined) sh('nsenter', `--mount=/proc/${held.pid}/ns/mnt`, 'sh', '-c', inside)
  return held
}
