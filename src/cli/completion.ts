/** `postern completion`: a script that lets a shell complete commands, flags and their values. */
import { Argument, Command, type Option } from 'commander'
import { SETTINGS } from '../config/settings.ts'
import { COMPLETION_SHELLS, completionScript } from './completion-scripts.ts'
import type { CompletedCommand, CompletedValue } from './completion-scripts.ts'
import { addExample } from './flags.ts'
import { print } from './terminal.ts'

/** Names of arguments that are files or folders. */
const FILES = /file|path|folder/

/** The program that it is a part of must hold every command. */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('print a script that completes commands, flags and values in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(COMPLETION_SHELLS))
    .addHelpText(
      'after',
      `
Load it where your shell reads its settings:
  bash  source <(postern completion bash)          in ~/.bashrc
  zsh   source <(postern completion zsh)           in ~/.zshrc, after compinit
  fish  postern completion fish | source           in ~/.config/fish/config.fish
Or write it to a file there, and again after an upgrade. It completes what is
called postern: an executable, an alias or a function.`,
    )
  return addExample(command, 'postern completion bash > ~/.postern-completion.bash').action(
    (shell: (typeof COMPLETION_SHELLS)[number], _options: unknown, self: Command) => {
      print(completionScript(shell, describeTree(self.parent ?? self)))
    },
  )
}

/** Every command of a program with what can stand behind it, itself first. */
function describeTree(root: Command): CompletedCommand[] {
  const common = [...root.options, helpOf(root)].map(describeOption)
  const isOfProgram = (long: string): boolean => long === '--version'
  const walk = (command: Command, at: string): CompletedCommand[] => {
    const help = command.createHelp()
    const children = command.commands.filter((child) => !isHelp(child))
    const own = help
      .visibleOptions(command)
      .filter(({ long }) => !common.some((one) => one.long === long))
    return [
      {
        at,
        commands: children.map((child) => ({
          name: child.name(),
          description: child.description(),
        })),
        options: [
          ...own.map(describeOption),
          ...common.filter(({ long }) => at === '' || !isOfProgram(long)),
        ],
        argument: command.registeredArguments.map(describeArgument)[0] ?? 'nothing',
      },
      ...children.flatMap((child) => walk(child, `${at}/${child.name()}`)),
    ]
  }
  return walk(root, '')
}

const isHelp = (command: Command): boolean => command.name() === 'help'

function helpOf(root: Command): Option {
  const help = root.createHelp().visibleOptions(root)
  return help.find(({ long }) => long === '--help')!
}

function describeOption(option: Option): CompletedCommand['options'][number] {
  const { long, description } = option
  const takesValue = option.required || option.optional
  return { long: long ?? '', description, value: takesValue ? valueOf(option) : 'none' }
}

function valueOf({ argChoices, flags, long }: Option): CompletedValue {
  if (argChoices !== undefined) return argChoices
  const setting = SETTINGS.find(({ flag }) => `--${flag}` === long)
  if (setting?.choices !== undefined) return setting.choices
  if (setting?.kind === 'boolean') return ['true', 'false']
  return setting?.kind === 'path' || FILES.test(flags) ? 'files' : 'nothing'
}

function describeArgument(argument: Argument): CompletedCommand['argument'] {
  if (argument.argChoices !== undefined) return argument.argChoices
  return FILES.test(argument.name()) ? 'files' : 'nothing'
}
