/** Programs that packaging needs, with what to install where one is missing. */
import { execFileSync } from 'node:child_process'

/** Runs programs for arm64 on x64. */
export const EMULATOR = 'qemu-aarch64-static'

/** Debian's packages, by program. */
const PACKAGES: Readonly<Record<string, string>> = {
  strip: 'binutils',
  'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu',
  patchelf: 'patchelf',
  [EMULATOR]: 'qemu-user-static',
  rpmbuild: 'rpm',
  'dpkg-deb': 'dpkg',
  minisign: 'minisign',
}

interface Where {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Its standard output. @throws where it is missing or fails, with what it said */
export function run(program: string, args: readonly string[], { cwd, env = {} }: Where = {}): string {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      cwd,
      env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 26,
    })
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') throw new Error(`${program} is missing: apt-get install ${PACKAGES[program] ?? program}`)
    throw new Error(`${program} ${args.join(' ')}: ${stderr}`, { cause: error })
  }
}
