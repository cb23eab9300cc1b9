// What the package exports, in use: the page of the sandbox with each of its files, and a sidecar
// between a bot and a person. `try-package.mjs` runs it beside an installed package.
import { equal, ok } from 'node:assert/strict'
import { createControlClient, createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'

await using sandbox = await createSandbox()
await using sidecar = await startSidecar({ upstream: sandbox.url, token: sandbox.token })
const { alice: person, privateChat: chatId } = sandbox.home
const alice = await sandbox.phone(person.id)

async function call(path, body) {
  const headers = { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' }
  const init = body && { method: 'POST', body: JSON.stringify(body) }
  return (await (await fetch(`${sidecar.url}/bot/v1${path}`, { headers, ...init })).json()).result
}

await alice.write(chatId, 'hello')
const [{ message }] = await call('/updates?timeout=5')
equal(`${message.from.username}: ${message.text}`, 'alice: hello')
await call('/messages', { chatId, text: 'hello, alice' })
const { verdict } = await alice.seen(({ text }) => text === 'hello, alice')
equal(verdict, 'verified')
const written = await createControlClient(sandbox.controlUrl).messages({ chatId })
equal(written.filter(({ armored }) => armored).length, 2)

const { url } = await sandbox.startPage()
const paths = new Set(['/'])
// a set is walked to what is added meanwhile
for (const path of paths) {
  const answer = await fetch(url + path)
  equal(answer.status, 200, path)
  const text = await answer.text()
  for (const [, name] of text.matchAll(/(?:from ["'](?=[./])|(?:href|src)=["'])([^"'#]+)["']/g)) {
    paths.add(new URL(name, url + path).pathname)
  }
}
for (const path of ['/app.js', '/lib/preact.js', '/lib/htm.js', '/style.css']) ok(paths.has(path))
