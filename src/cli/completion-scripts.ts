/** Completion scripts of the commands, in the language of each shell. */

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const

/** Completions of a value; neither words nor files: none known. */
export interface CompletedValue {
  words: readonly string[]
  files: boolean
}

/** One command with its subcommands, options and arguments. */
export interface CompletedCommand {
  /** Where it is: empty for the program, `/key/list` for `postern key list`. */
  at: string
  commands: readonly { name: string; description: string }[]
  /** By the long name; null: without a value. */
  options: readonly { long: string; description: string; value: CompletedValue | null }[]
  /** What its first argument is; the others are alike. */
  argument: CompletedValue
}

/**
 * @param tree every command, the program first
 * @returns a script that the shell reads; it starts no process when it completes
 */
export function completionScript(
  shell: (typeof COMPLETION_SHELLS)[number],
  tree: readonly CompletedCommand[],
): string {
  return { bash, zsh, fish }[shell](tree)
}

type Tree = readonly CompletedCommand[]

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
