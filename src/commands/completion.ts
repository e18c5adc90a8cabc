import { Args } from '@oclif/core'
import { VolctlCommand } from '../core/cli/volctl-command.ts'
import { COMPLETION_SCRIPTS } from '../core/completion/scripts.ts'
import { VolctlError } from '../core/errors/errors.ts'

export default class Completion extends VolctlCommand {
  static override readonly looks = false
  static override summary =
    'Print a script that completes volctl command lines in bash, zsh or fish, or as a plugin of kubectl.'
  static override description =
    'The script completes commands, flags and their values, for which it asks volctl each time. Names of pods, claims, volumes, drivers and contexts are asked ' +
    'from volctl when they are needed: from the API server that the command line means, or from its --snapshot, after --cluster ' +
    'those of the whole cluster, within ' +
    'one second, without root, and without starting a program for a credential. Where that fails nothing is offered. ' +
    'Codes and rules need no node.'
  static override usage = 'completion bash|zsh|fish|kubectl'
  static override args = {
    shell: Args.string({
      name: 'SHELL',
      // Else oclif would take a line of standard input for it.
      ignoreStdin: true,
      options: Object.keys(COMPLETION_SCRIPTS),
      description:
        'The shell that reads the script; kubectl: the program that kubectl starts to complete "kubectl volctl".',
    }),
  }
  static override examples = [
    {
      description: 'In this bash, and with the same line in ~/.bashrc in every later one:',
      command: 'source <(<%= config.bin %> completion bash)',
    },
    {
      description: 'For every user of bash-completion:',
      command: '<%= config.bin %> completion bash > /etc/bash_completion.d/volctl',
    },
    {
      description: 'zsh; the directory has to be in fpath before compinit runs:',
      command: '<%= config.bin %> completion zsh > /usr/local/share/zsh/site-functions/_volctl',
    },
    { description: 'fish:', command: '<%= config.bin %> completion fish > ~/.config/fish/completions/volctl.fish' },
    {
      description: 'kubectl volctl, in every shell that completes kubectl; the directory has to be in the PATH:',
      command: '<%= config.bin %> completion kubectl | install -m 755 /dev/stdin ~/.local/bin/kubectl_complete-volctl',
    },
  ]

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    if (args.shell === undefined) {
      throw new VolctlError('Usage', 'SHELL is missing', {
        hint: 'Give bash, zsh, fish or kubectl: see volctl completion --help',
      })
    }
    this.output.write(COMPLETION_SCRIPTS[args.shell as keyof typeof COMPLETION_SCRIPTS])
    await this.output.flush()
  }
}
