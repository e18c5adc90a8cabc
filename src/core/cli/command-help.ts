/** The help of one command, as oclif draws it: main loads it with oclif, and no run that needs neither. */
import { type Command, CommandHelp, type Interfaces } from '@oclif/core'

export function helpText(
  command: Command.Cached,
  config: Interfaces.Config,
  options: Partial<Interfaces.HelpOptions>,
): string {
  return new Page(command as Command.Loadable, config, options as Interfaces.HelpOptions).text()
}

class Page extends CommandHelp {
  text(): string {
    const { summary, description = '' } = this.command
    const [first] = this.render(summary ?? description).split('\n')
    return `${first}\n\n${this.generate()}\n\n`
  }

  /** oclif heads a group of flags with its name and `FLAGS`: "SAFETY OVERRIDES" says as much. */
  override section(header: string, body: Parameters<CommandHelp['section']>[1]): string {
    return super.section(header.replace(/(?<=.) FLAGS$/, ''), body)
  }
}
