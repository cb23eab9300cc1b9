/** Pages of other origins in a real browser: none reaches the page, the control or the bot's side. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/create.ts'
import type { Page as ServedPage, Sandbox } from '../../../src/sandbox/create.ts'
import { hasBrowser, TestBrowser } from '../../support/browser.ts'

/** A name that leads to this machine once its page is loaded. */
const REBOUND = 'rebound.example'
const BODY = JSON.stringify({ username: 'mallory', firstName: 'Mallory' })

describe.skipIf(!hasBrowser)('a foreign page', () => {
  let sandbox: Sandbox
  let served: ServedPage
  let browser: TestBrowser
  let theirs: string
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title>')
  })
  beforeAll(async () => {
    sandbox = await createSandbox({ rates: 'off', phones: 'all' })
    served = await sandbox.startPage()
    browser = await TestBrowser.start([REBOUND])
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    theirs = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  })
  afterAll(async () => {
    site.close()
    await browser[Symbol.asyncDispose]()
    await sandbox[Symbol.asyncDispose]()
  })

  /** Every address that adds a person, reads words or streams events. */
  const doors = () => ({
    adds: [`${served.url}/control/addPerson`, `${sandbox.controlUrl}/addPerson`],
    streams: [`${served.url}/events`, `${sandbox.controlUrl}/events`],
    reads: [
      `${served.url}/`,
      `${served.url}/app.js`,
      `${sandbox.controlUrl}/openapi.json`,
      `${sandbox.url}/bot/v1/me`,
    ],
  })
  const usernames = async (): Promise<unknown[]> =>
    (await sandbox.control.people({})).map(({ username }) => username)

  test('a foreign page changes nothing by `fetch` and `sendBeacon`', async () => {
    const before = await usernames()
    await using page = await browser.visit(theirs)
    const outcomes = await page.evaluate(
      async ({ adds, body }) => {
        const modes = ['cors', 'no-cors'] as const
        const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded']
        const all: string[] = []
        for (const url of adds) {
          for (const mode of modes) {
            for (const type of types) {
              const headers = { 'content-type': type }
              const call = fetch(url, { method: 'POST', mode, headers, body })
              all.push(
                await call
                  .then(({ type: kind, status }) => `${kind} ${status}`)
                  .catch(() => 'refused'),
              )
            }
          }
          navigator.sendBeacon(url, body)
        }
        return [...new Set(all)].toSorted()
      },
      { adds: doors().adds, body: BODY },
    )
    // opaque: it cannot read even that it was refused
    expect(outcomes).toEqual(['opaque 0', 'refused'])
    expect(await usernames()).toEqual(before)
  })

  test('a foreign page changes nothing by a submitted form', async () => {
    const before = await usernames()
    for (const url of doors().adds) {
      for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) {
        await using page = await browser.visit(theirs)
        const answered = page.waitForResponse((response) => response.url().startsWith(url))
        await page.evaluate(
          ({ action, type, body }) => {
            const form = document.createElement('form')
            Object.assign(form, { action, method: 'POST', enctype: type })
            const field = document.createElement('input')
            Object.assign(field, { name: body.slice(0, -1), value: '}' })
            form.append(field)
            document.body.append(form)
            form.submit()
          },
          { action: url, type: enctype, body: BODY },
        )
        expect((await answered).status()).toBe(403)
      }
    }
    expect(await usernames()).toEqual(before)
  })

  test('a foreign page reads no answer, receives no event and shows nothing in a frame', async () => {
    await using page = await browser.visit(theirs)
    const { streams, reads } = doors()
    const heard = await page.evaluate(
      async ({ streams: urls, reads: others }) => {
        const listen = (url: string): Promise<string> =>
          new Promise((resolve) => {
            const source = new EventSource(url)
            source.addEventListener('message', () => resolve('heard'))
            source.addEventListener('open', () => resolve('opened'))
            source.addEventListener('error', () => resolve('refused'))
          })
        const read = (url: string): Promise<string> =>
          fetch(url).then(
            (response) => response.text(),
            () => 'refused',
          )
        const load = (url: string): Promise<string> =>
          new Promise((resolve) => {
            const script = document.createElement('script')
            script.addEventListener('load', () => resolve('loaded'))
            script.addEventListener('error', () => resolve('refused'))
            script.src = url
            document.head.append(script)
          })
        return await Promise.all([...urls.map(listen), ...others.map(read), ...others.map(load)])
      },
      { streams, reads },
    )
    expect(new Set(heard)).toEqual(new Set(['refused']))
    await page.setContent(`<iframe src="${served.url}/"></iframe>`)
    await page.waitForTimeout(500)
    const framed = page.frames().at(-1)
    expect(
      await framed
        ?.locator('.chat, .world, nav')
        .count()
        .catch(() => 0),
    ).toBe(0)
  })

  test('a foreign page cannot read the page in a window that it opens', async () => {
    await using page = await browser.visit(theirs)
    const opened = page.waitForEvent('popup')
    await page.evaluate((url) => void Object.assign(window, { theirs: open(url) }), served.url)
    await (await opened).waitForLoadState()
    const reached = await page.evaluate(() => {
      const other = (window as unknown as { theirs: Window | null }).theirs
      try {
        return String(other?.document.title)
      } catch {
        return 'refused'
      }
    })
    expect(['refused', 'undefined']).toContain(reached)
  })

  test('a foreign page whose name resolves to this machine is answered with 421', async () => {
    for (const url of [served.url, sandbox.controlUrl, sandbox.url]) {
      const { port } = new URL(url)
      await using page = await browser.visit(`http://${REBOUND}:${port}/`)
      const { status, text } = await page.evaluate(async (body) => {
        const response = await fetch('/control/people', { method: 'POST', body })
        return { status: response.status, text: await response.text() }
      }, BODY)
      expect([status, text.includes('alice')]).toEqual([421, false])
    }
  })
})
