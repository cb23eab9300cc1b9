/** `postern completion`: a script that lets a shell complete commands, flags and their values. */
import { Argument, type Command, type Option } from 'commander'
import { SETTINGS } from '../config/settings.ts'
import {
  COMPLETION_SHELLS,
  completionScript,
  type CompletedCommand,
  type CompletedValue,
} from './completion-scripts.ts'
import { PosternCommand } from './help.ts'
import { print } from './terminal.ts'

/** Names of arguments that are files or folders. */
const FILES = /file|path|folder/

/** The program that it is a part of must hold every command. */
export function completionCommand(): Command {
  return new PosternCommand('completion')
    .description('print a script that completes commands and flags in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(COMPLETION_SHELLS))
    .notes(
      `Load it where your shell reads its settings:
  bash  source <(postern completion bash)          in ~/.bashrc
  zsh   source <(postern completion zsh)           in ~/.zshrc, after compinit
  fish  postern completion fish | source           in ~/.config/fish/config.fish
Or write it to a file there, and again after an upgrade. It completes what is
called postern: an executable, an alias or a function.`,
    )
    .example('postern completion bash > ~/.postern-completion.bash')
    .action((shell: (typeof COMPLETION_SHELLS)[number], _options: unknown, self: Command) => {
      print(completionScript(shell, describeTree(self.parent ?? self)))
    })
}

/** Every command of a program with its completions, the program first. */
function describeTree(root: Command): CompletedCommand[] {
  const help = root.createHelp()
  const ofHelp = help.visibleOptions(root).filter(({ long }) => long === '--help')
  const common = [...root.options, ...ofHelp].map(describeOption)
  const walk = (command: Command, at: string): CompletedCommand[] => {
    const [argument] = command.registeredArguments
    const children = command.commands.filter((child) => child.name() !== 'help')
    const own = help
      .visibleOptions(command)
      .filter(({ long }) => !common.some((one) => one.long === long))
    return [
      {
        at,
        commands: children.map((one) => ({ name: one.name(), description: one.description() })),
        options: [
          ...own.map(describeOption),
          ...common.filter(({ long }) => at === '' || long !== '--version'),
        ],
        argument: completed(argument?.argChoices, FILES.test(argument?.name() ?? '')),
      },
      ...children.flatMap((child) => walk(child, `${at}/${child.name()}`)),
    ]
  }
  return walk(root, '')
}

function describeOption(option: Option): CompletedCommand['options'][number] {
  const { long, description, required, optional } = option
  return { long: long ?? '', description, value: required || optional ? valueOf(option) : null }
}

function valueOf({ argChoices, flags, long }: Option): CompletedValue {
  const setting = SETTINGS.find(({ flag }) => `--${flag}` === long)
  const booleans = setting?.kind === 'boolean' ? ['true', 'false'] : undefined
  return completed(
    argChoices ?? setting?.choices ?? booleans,
    setting?.kind === 'path' || FILES.test(flags),
  )
}

function completed(words: readonly string[] | undefined, hasFiles: boolean): CompletedValue {
  return { words: words ?? [], files: words === undefined && hasFiles }
}
