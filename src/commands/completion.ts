import { completionScript, SHELLS } from '../core/cli/completion.ts'
import { argument } from '../core/cli/flags.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { marked, usageError } from '../core/messages/findings.ts'

export default class Completion extends VolctlCommand {
  static override readonly looks = false
  static override summary = 'Print a script that completes volctl command lines in bash, zsh or fish.'
  static override description =
    'The script completes commands, flags, kinds of operations and the other fixed values of flags. It never starts volctl: ' +
    'after an upgrade it is printed again.'
  static override usage = 'completion bash|zsh|fish'
  static override args = {
    shell: argument('SHELL', 'The shell that reads the script.', SHELLS),
  }
  static override examples = examples({
    'In this bash, and with the same line in ~/.bashrc in every later one:': 'source <($ completion bash)',
    'For every user of bash-completion:': '$ completion bash > /etc/bash_completion.d/volctl',
    'zsh; the directory has to be in fpath before compinit runs:':
      '$ completion zsh > /usr/local/share/zsh/site-functions/_volctl',
    'fish:': '$ completion fish > ~/.config/fish/completions/volctl.fish',
  })

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    const shell = SHELLS.find((each) => each === args.shell)
    if (shell === undefined) {
      throw usageError('Usage.missing', marked('Give bash, zsh or fish: see `volctl completion --help`'), {
        name: 'SHELL',
      })
    }
    this.output.write(completionScript(shell, this.config.commands))
    await this.output.flush()
  }
}
