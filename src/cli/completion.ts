/** `postern completion`: a script that lets a shell complete commands, flags and their values. */
import { Argument, type Command, type Option } from 'commander'
import { SETTINGS } from '../config/settings.ts'
import { PosternCommand } from './help.ts'
import { print } from './terminal.ts'

/** Completions of a value; neither words nor files: none known. */
type CompletedValue = ReturnType<typeof completed>

/** One command with its subcommands, options and arguments. */
interface CompletedCommand {
  /** Where it is: empty for the program, `/key/list` for `postern key list`. */
  at: string
  commands: readonly { name: string; description: string }[]
  /** By the long name; null: without a value. */
  options: readonly ReturnType<typeof describeOption>[]
  /** What its first argument is; the others are alike. */
  argument: CompletedValue
}

/** Every command, the program first. */
type Tree = readonly CompletedCommand[]

/** By shell, the script that it reads; it starts no process when it completes. */
const SCRIPTS = { bash, zsh, fish }

/** Names of arguments that are files or folders. */
const FILES = /file|path|folder/

/** The program that it is a part of must hold every command. */
export function completionCommand(): Command {
  return new PosternCommand('completion')
    .description('print a script that completes commands and flags in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SCRIPTS)))
    .notes(
      `Load it where your shell reads its settings:
  bash  source <(postern completion bash)          in ~/.bashrc
  zsh   source <(postern completion zsh)           in ~/.zshrc, after compinit
  fish  postern completion fish | source           in ~/.config/fish/config.fish
Or write it to a file there, and again after an upgrade. It completes what is
called postern: an executable, an alias or a function.`,
    )
    .example('postern completion bash > ~/.postern-completion.bash')
    .action((shell: keyof typeof SCRIPTS, _options: unknown, self: Command) => {
      print(SCRIPTS[shell](describeTree(self.parent ?? self)))
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

function describeOption(option: Option) {
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

function completed(words: readonly string[] | undefined, hasFiles: boolean) {
  return { words: words ?? [], files: words === undefined && hasFiles }
}

function bash(tree: Tree): string {
  const places = tree.map(({ at, commands, options, argument }) => {
    const words = [...argument.words, ...commands.map(({ name }) => name)]
    const flags = options.map(({ long }) => long)
    const files = argument.files ? ' files=yes' : ''
    return `    '${at}') words='${words.join(' ')}' flags='${flags.join(' ')}'${files} ;;`
  })
  const values = valuesOf(tree).map(({ at, long, value: { words, files } }) => {
    return `    '${at} ${long}') words='${words.join(' ')}' flags='' files='${files ? 'yes' : ''}' ;;`
  })
  return `# Completes postern in bash, from 4.0 on.
_postern() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  local at='' words='' flags='' files='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${placesOf(tree).join('|')}) at=$at/\${COMP_WORDS[i]} ;;
    esac
  done
  # "=" is a word of its own
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  case "$at" in
${places.join('\n')}
  esac
  case "$at $prev" in
${values.join('\n')}
  esac
  # flags where nothing else can stand, or where one was begun
  if [[ $cur == -* || -z $words$files ]]; then words=$flags files=''; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if [[ $files == yes ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _postern postern
`
}

function zsh(tree: Tree): string {
  const described = (one: string, text: string): string => quote(`${one}:${text}`)
  const items = tree.map(({ at, commands, options, argument }) => {
    const names = commands.map(({ name, description }) => described(name, description))
    const flags = options.map(({ long, description }) => described(long, description))
    const added = zshValue(argument)
    const more = added === null ? '' : ` ${added};`
    return `    (${quote(at)})${more} commands=(${names.join(' ')}) options=(${flags.join(' ')}) ;;`
  })
  const values = valuesOf(tree).map(({ at, long, value }) => {
    return `    (${quote(`${at} ${long}`)}) ${zshValue(value) ?? '_message value'}; return ;;`
  })
  return `#compdef postern
# Completes postern in zsh.
_postern() {
  local at=''
  local -i i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/\${words[i]}" in
      (${placesOf(tree).join('|')}) at="$at/\${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$at" in
${items.join('\n')}
  esac
  _describe -t commands command commands
  _describe -o -t options option options
}
if [[ \${funcstack[1]} == _postern ]]; then _postern "$@"; else compdef _postern postern; fi
`
}

function zshValue({ words, files }: CompletedValue): string | null {
  if (words.length > 0) return `compadd -- ${words.join(' ')}`
  return files ? '_files' : null
}

function fish(tree: Tree): string {
  const lines = tree.flatMap(({ at, commands, options, argument }) => {
    const here = `complete -c postern -n ${fishQuote(`__postern_at "${at}"`)}`
    return [
      ...commands.map(({ name, description }) => `${here} -a ${name} -d ${fishQuote(description)}`),
      ...(argument.words.length > 0 ? [`${here} -a ${fishQuote(argument.words.join(' '))}`] : []),
      ...(argument.files ? [`${here} -F`] : []),
      ...options.map(({ long, description, value }) => {
        const flag = `${here} -l ${long.slice(2)} -d ${fishQuote(description)}`
        if (value === null) return flag
        if (value.files) return `${flag} -r -F`
        const words = value.words.length === 0 ? '' : ` -a ${fishQuote(value.words.join(' '))}`
        return `${flag} -x${words}`
      }),
    ]
  })
  return `# Completes postern in fish.
function __postern_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${placesOf(tree).join(' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c postern -f
${lines.join('\n')}
`
}

/** Every command but the program, as the scripts compare it. */
function placesOf(tree: Tree): string[] {
  return tree.flatMap(({ at }) => (at === '' ? [] : [at]))
}

/** Every option with a value, with its command. */
function valuesOf(tree: Tree): { at: string; long: string; value: CompletedValue }[] {
  return tree.flatMap(({ at, options }) =>
    options.flatMap(({ long, value }) => (value === null ? [] : [{ at, long, value }])),
  )
}

/** For bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
