/** Calls as commands for a shell, and texts for the clipboard. */

/** @typedef {import('./calls.js').Leg} Leg */

/**
 * A call as a `curl` command. The bot's token is that of the shell, in `BOT_TOKEN` or in the file
 * that `BOT_TOKEN_FILE` names.
 * @param {Leg} leg
 * @param {string} base address without `/bot/v1`
 */
export function curlOf({ method, path, request }, base) {
  const lines = [
    `curl -sS -g -X ${method} ${quoted(base + path)}`,
    `-H "Authorization: Bearer \${BOT_TOKEN:-$(cat "$BOT_TOKEN_FILE")}"`,
  ]
  if (request !== '') {
    lines.push(`-H 'Content-Type: application/json'`, `--data-raw ${quoted(request)}`)
  }
  return lines.join(' \\\n  ')
}

/** As one word of a POSIX shell. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Puts a text on the clipboard; where the browser has none for this address, shows it.
 * @param {import('./model.js').Model} model
 * @param {string} what it is
 * @param {string} text
 */
export async function copy(model, what, text) {
  try {
    await navigator.clipboard.writeText(text)
    model.notify(`${what} is on the clipboard.`)
  } catch {
    model.ask({ kind: 'text', title: what, text })
  }
}
