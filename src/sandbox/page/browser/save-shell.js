/** A scene as a shell script of `postern sandbox say`, `press` and `attach`, for the world that it is of. */
import { quoted } from './curl.js'

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Step} Step */

const PRELUDE = String.raw`set -eu
: "${'$'}{POSTERN_SANDBOX_CONTROL:=CONTROL}"
export POSTERN_SANDBOX_CONTROL
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# What somebody does; with a last argument, the answer that has to contain it, as JSON.
does() {
  wanted=$1
  shift
  came=$(${'$'}{POSTERN:-postern} sandbox "$@")
  case $came in
    *"$wanted"*) ;;
    *) echo "expected $wanted, got: $came" >&2; exit 1 ;;
  esac
}

control() { curl -fsS -g -H 'Content-Type: application/json' "$POSTERN_SANDBOX_CONTROL/$1" --data-raw "$2" >/dev/null; }
`

/** @param {Scene} scene */
export function shellOf({ chats, steps, control }) {
  const lines = steps.flatMap((step, index) =>
    linesOf(step, { next: steps[index + 1], index, chats }),
  )
  return `#!/bin/sh
# Saved from the page of a Postern sandbox, for the world that is in it. Run it while the bot runs.
${PRELUDE.replace(':=CONTROL}', `:=${control}}`)}
control clearFaults '{}'
${lines.join('\n')}
control clearFaults '{}'
echo passed
`
}

/**
 * @param {Step} step
 * @param {{ next: Step | undefined, index: number, chats: Scene['chats'] }} of
 */
function linesOf(step, { next, index, chats }) {
  const where = 'chat' in step ? nameOf(chats, step.chat) : ''
  switch (step.do) {
    case 'say':
      return [does(step, next, 'say', `${quoted(step.who)} ${quoted(where)} ${quoted(step.text)}`)]
    case 'attach': {
      const words = step.text === '' ? '' : ` ${quoted(step.text)}`
      return [
        `printf %s ${quoted(step.base64)} | base64 -d > "$files/${index}"`,
        does(
          step,
          next,
          'attach',
          `${quoted(step.who)} ${quoted(where)} "$files/${index}"${words}`,
        ),
      ]
    }
    case 'press': {
      const words = `${quoted(step.who)} ${quoted(where)} ${quoted(step.data)}`
      return [command('press', words, step.answer)]
    }
    case 'expect':
      return []
    case 'clock':
      return [`control advance '{"ms":${step.ms}}'`]
    case 'clear':
      return [`control clearFaults '{}'`]
    case 'fault':
    default:
      return [`control fault ${quoted(JSON.stringify(step.literal))}`]
  }
}

/** @param {Step} step @param {Step | undefined} next @param {string} name @param {string} words */
function does(step, next, name, words) {
  const isAnswered = next?.do === 'expect' && 'chat' in step && next.chat === step.chat
  return command(name, words, isAnswered ? next.text : null)
}

/** @param {string} name @param {string} words @param {string | null} answer that has to come */
function command(name, words, answer) {
  const wait = answer === null ? '' : '--wait 15 '
  return `does ${quoted(answer === null ? '' : inJson(answer))} ${name} --json ${wait}-- ${words}`
}

/** A private chat is called as its bot. @param {Scene['chats']} chats @param {string} key */
function nameOf(chats, key) {
  const chat = chats.find((one) => one.key === key)
  return chat?.bot ?? chat?.title ?? key
}

/** As JSON holds it. @param {string} text */
const inJson = (text) => JSON.stringify(text).slice(1, -1)
