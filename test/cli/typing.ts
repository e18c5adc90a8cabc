/** A shell at a terminal, into which somebody types: the shell's words afterwards show what TAB made of a line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { until } from '../helpers/until.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Without any user's settings. */
const STARTS: Readonly<Record<Shell, string>> = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
}

/** Loads the script, and defines `words`, which prints its arguments. */
const PREPARATIONS: Readonly<Record<Shell, string>> = {
  bash: String.raw`bind 'set enable-bracketed-paste off'; source <(SCRIPT); words() { printf '<%s>' "$@"; printf '<%s>\n' END; }; words READY`,
  zsh: String.raw`unset zle_bracketed_paste; setopt no_prompt_sp; autoload -U compinit; compinit -u -D; source <(SCRIPT); words() { printf '<%s>' "$@"; printf '<%s>\n' END; }; words READY`,
  fish: String.raw`SCRIPT | source; function words; printf '<%s>' $argv; printf '<%s>\n' END; end; words READY`,
}

const [LINE_BEGIN, ENTER] = ['\u0001', '\r']

export class Typing implements Disposable {
  readonly #terminal: ChildProcess
  #shown = ''

  private constructor(shell: Shell, directory: string, path: string) {
    const terminal = ['--quiet', '--flush', '--command', STARTS[shell], '/dev/null']
    this.#terminal = spawn('script', terminal, {
      cwd: directory,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: path, TERM: 'dumb', HOME: directory, LC_ALL: 'C.UTF-8' },
    })
    this.#terminal.stdout?.on('data', (data) => {
      this.#shown += data
    })
  }

  /** @param path where the shell finds its programs @param script a command that prints the script */
  static async start(shell: Shell, directory: string, path: string, script: string): Promise<Typing> {
    const typing = new Typing(shell, directory, path)
    await typing.#answer(`${PREPARATIONS[shell].replace('SCRIPT', script)}${ENTER}`)
    return typing
  }

  /** @param keys with a tab wherever TAB is pressed */
  complete(keys: string): Promise<string[]> {
    return this.#answer(`${keys}${LINE_BEGIN}words ${ENTER}`)
  }

  async #answer(keys: string): Promise<string[]> {
    const from = this.#shown.length
    // The keys themselves are echoed, too, but not with this end.
    const answer = /(?:^|[\r\n])((?:<[^\r\n]*>)?)<END>/
    this.#terminal.stdin?.write(keys)
    if (!(await until(() => answer.test(this.#shown.slice(from))))) throw new Error(`no answer: ${this.#shown}`)
    const words = answer.exec(this.#shown.slice(from))?.[1] ?? ''
    return words === '' ? [] : words.slice(1, -1).split('><')
  }

  [Symbol.dispose](): void {
    this.#terminal.kill('SIGKILL')
  }
}
